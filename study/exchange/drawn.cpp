// How scenarios are drawn, and the ways that are tried on them. See drawn.hpp.
#include "study/exchange/drawn.hpp"

#include "study/exchange/exchange.hpp"
#include "tools/simulate/report.hpp"

#include <cmath>
#include <random>

namespace sluice::tools {
namespace {

constexpr Rank ranks_drawn = 128;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    /// Between 10^least and 10^most, each order of magnitude as likely.
    double of_magnitude(double least, double most) {
        double const share = static_cast<double>(random_() >> 11) / 9007199254740992.0;
        return std::pow(10.0, least + (most - least) * share);
    }
    template <typename T> T one_of(std::initializer_list<T> values) {
        return values.begin()[random_() % values.size()];
    }

private:
    std::mt19937_64 random_;
};

void draw_machine(Draw& draw, simulated::Machine& m, Rank ranks_most) {
    m.ranks_per_node = draw.one_of({1, 2, 4, 8, 16});
    m.nodes = std::min(draw.one_of({2, 4, 8, 16, 32}), ranks_most / m.ranks_per_node);
    m.nodes = std::max(m.nodes, 2);
    m.start_seconds = draw.of_magnitude(-6, -4.5);
    m.byte_seconds = draw.of_magnitude(-10.3, -8);
    m.eager_bytes = draw.one_of<Bytes>({0, 1024, 8192, 65536});
    m.card_ports = draw.one_of({0, 1, 2, 4});
    m.queue_seconds = draw.one_of({0.0, 1e-8, 5e-8, 2e-7});
    m.copy_byte_seconds = draw.of_magnitude(-10.3, -9.3);
    m.wake_seconds = draw.of_magnitude(-6.3, -4.7);
    m.storage_start_seconds = draw.of_magnitude(-6, -4);
    m.storage_byte_seconds = draw.of_magnitude(-10.3, -9);
    m.storage_servers = draw.one_of({0, 4, 16});
}

}  // namespace

Scenario drawn_scenario(std::uint64_t seed, Rank ranks_most) {
    Draw draw(seed);
    Scenario scenario;
    scenario.seed = seed;
    scenario.checked = false;
    draw_machine(draw, scenario.machine, ranks_most);
    auto& pattern = scenario.pattern;
    pattern.name = draw.one_of(
        {"strided", "block3d", "btio", "irregular", "random", "flash", "sparse", "contiguous"});
    pattern.seed = seed;
    pattern.bytes = draw.one_of<Bytes>({1 << 10, 4 << 10, 16 << 10, 64 << 10});
    pattern.piece_bytes = draw.one_of<Bytes>({64, 256, 1024, 4096});
    scenario.direction = draw.one_of({Direction::write, Direction::write, Direction::read});
    Hints& hints = scenario.hints;
    hints.write = hints.read = Strategy::two_phase;
    hints.domains = Domains::even;
    hints.window_bytes = draw.one_of<Bytes>({16 << 10, 64 << 10, 256 << 10});
    hints.aggregator_count = draw.one_of({0, 1, 2, 4, 8, 16});
    if (!why_not(scenario).empty()) pattern.name = "strided";
    return scenario;
}

std::vector<ForcedDelivery> forced_deliveries() {
    std::vector<ForcedDelivery> all;
    for (auto const layers : {Layers::one, Layers::two}) {
        for (auto const kernel : {Kernel::ascending, Kernel::spread_out, Kernel::even}) {
            for (std::int32_t const messages : {static_cast<std::int32_t>(Throttle::none), 2, 8,
                                                static_cast<std::int32_t>(Throttle::usual)}) {
                Delivery const data{.kernel = kernel, .layers = layers, .throttle = {messages}};
                Delivery metadata = data;
                all.push_back({metadata, data});
                metadata.layers = layers == Layers::one ? Layers::two : Layers::one;
                metadata.throttle = {Throttle::none};
                if (kernel == Kernel::even) all.push_back({metadata, data});
            }
            Delivery const issend{.kernel = kernel,
                                  .layers = layers,
                                  .synchronous = 1,
                                  .throttle = {Throttle::usual}};
            all.push_back({issend, issend});
        }
    }
    return all;
}

ChoiceOutcome compare_choice(Scenario scenario) {
    ChoiceOutcome result;
    auto const run = [&](Hints const& hints) {
        scenario.hints = hints;
        auto outcome = simulated::run(experiment_of(scenario));
        if (!outcome.fault.empty()) result.fault = outcome.fault;
        return outcome;
    };
    Hints const free = scenario.hints;
    auto const chosen = run(free);
    result.chosen = result.best = chosen.seconds;
    result.plan = chosen.plan;
    result.choice = result.best_name =
        "metadata " + describe(chosen.plan.metadata) + "; data " + describe(chosen.plan.data);
    for (ForcedDelivery const& forced : forced_deliveries()) {
        Hints hints = free;
        hints.metadata = forced.metadata, hints.data = forced.data;
        double const seconds = run(hints).seconds;
        result.forced.push_back(seconds);
        if (seconds >= result.best) continue;
        result.best = seconds;
        result.best_name =
            "metadata " + describe(forced.metadata) + "; data " + describe(forced.data);
    }
    return result;
}

int compare_choices(ExchangeOptions const& options) {
    int wrong = 0;
    std::int64_t const end = options.first + options.choices;
    for (std::int64_t seed = options.first; seed < end; ++seed) {
        Scenario const scenario = drawn_scenario(static_cast<std::uint64_t>(seed), ranks_drawn);
        std::int64_t const number = seed - options.first + 1;
        std::fprintf(stderr, "\r%lld of %lld\033[K", static_cast<long long>(number),
                     static_cast<long long>(options.choices));
        ChoiceOutcome const found = compare_choice(scenario);
        std::fprintf(stderr, "\r\033[K");
        wrong += found.fault.empty() ? 0 : 1;
        std::printf("%4lld  %2d x %2d %-10s %-5s %9s  %5.3f  %s%s\n", static_cast<long long>(seed),
                    scenario.machine.nodes, scenario.machine.ranks_per_node,
                    scenario.pattern.name.c_str(), describe(scenario.direction),
                    seconds_text(found.chosen).c_str(), found.ratio(), found.choice.c_str(),
                    found.ratio() > 1.05 ? ("; best: " + found.best_name).c_str() : "");
        std::fflush(stdout);
        if (options.json == nullptr) continue;
        std::fprintf(options.json,
                     "{\"mode\": \"choice\", \"seed\": %lld, \"nodes\": %d, \"ranks\": %d, "
                     "\"pattern\": \"%s\", \"direction\": \"%s\", \"choice\": \"%s\", "
                     "\"best\": \"%s\", \"seconds\": %.9g, \"best_seconds\": %.9g, "
                     "\"right\": %s}\n",
                     static_cast<long long>(seed), scenario.machine.nodes, scenario.machine.ranks(),
                     scenario.pattern.name.c_str(), describe(scenario.direction),
                     found.choice.c_str(), found.best_name.c_str(), found.chosen, found.best,
                     found.fault.empty() ? "true" : "false");
    }
    return wrong == 0 ? 0 : 1;
}

}  // namespace sluice::tools
