// The sweep and the comparison. See exchange.hpp.
#include "study/exchange/exchange.hpp"

#include "bench/measure/decomposition_file.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>

namespace sluice::tools {
namespace {

constexpr Throttle all_at_once{Throttle::none}, usual{Throttle::usual}, one{1},
    batches{Throttle::usual, 1};

constexpr Delivery delivery(Kernel kernel, Layers layers, Throttle throttle,
                            std::uint8_t synchronous = 0) {
    return {.kernel = kernel, .layers = layers, .synchronous = synchronous, .throttle = throttle};
}
constexpr Delivery one_layer(Kernel kernel, Throttle throttle) {
    return delivery(kernel, Layers::one, throttle, 1);
}
constexpr Delivery two_layers(Kernel kernel, Throttle throttle) {
    return delivery(kernel, Layers::two, throttle);
}
constexpr Contender same(char const* name, Delivery both, Rank local_aggregators = 0) {
    return {name, both, both, local_aggregators};
}
constexpr Rank papers_local_aggregators = 512;
/// Two-layer aggregation as the paper has it.
constexpr Contender tam(char const* name, Delivery both) {
    return same(name, both, papers_local_aggregators);
}

constexpr Delivery romio = delivery(Kernel::ascending, Layers::one, all_at_once),
                   issend = one_layer(Kernel::ascending, all_at_once),
                   issend_throttled = one_layer(Kernel::ascending, usual),
                   issend_batches = one_layer(Kernel::ascending, batches),
                   balanced = one_layer(Kernel::balanced, usual),
                   balanced_batches = one_layer(Kernel::balanced, batches);

/// ROMIO posts all messages at once; a pairwise exchange has one; the others are throttled.
constexpr Contender contenders[] = {
    same("ROMIO", romio),
    same("ROMIO, issend", issend),
    same("pairwise", one_layer(Kernel::pairwise, one)),
    same("spread-out", one_layer(Kernel::spread_out, usual)),
    same("balanced", balanced),
    // The paper defines its hybrid in both ways, and throttles by batches.
    {"hybrid, caption of figure 5", issend, balanced},
    {"hybrid, section V.C", balanced, issend},
    {"hybrid, caption, throttled", issend_throttled, balanced},
    {"hybrid, V.C, throttled", balanced, issend_throttled},
    {"hybrid, caption, batches", issend_batches, balanced_batches},
    {"hybrid, V.C, batches", balanced_batches, issend_batches},
    same("balanced, batches", balanced_batches),
    same("two-layer", two_layers(Kernel::ascending, all_at_once)),
    same("two-layer, spread-out", two_layers(Kernel::spread_out, usual)),
    same("two-layer, balanced", two_layers(Kernel::balanced, usual)),
    tam("TAM", two_layers(Kernel::ascending, all_at_once)),
    tam("TAM, pairwise", two_layers(Kernel::pairwise, one)),
    tam("TAM, spread-out", two_layers(Kernel::spread_out, usual)),
    tam("TAM, balanced", two_layers(Kernel::balanced, usual)),
    same("the library's choice", {}),
};

class Table {
public:
    explicit Table(ExchangeOptions const& options) : options_(options) {}

    /// False where the pattern is not possible.
    bool begin(std::string const& machine, Scenario const& scenario) {
        machine_ = machine;
        auto const impossible = why_not(scenario);
        std::printf("\n%s, %d ranks on %d nodes: %s of %s%s%s\n", machine.c_str(),
                    scenario.machine.ranks(), scenario.machine.nodes, describe(scenario.direction),
                    scenario.pattern.name.c_str(), impossible.empty() ? "" : ": left out: it ",
                    impossible.c_str());
        if (!impossible.empty()) return false;
        std::printf("  %-28s %9s %9s %9s %9s %9s %9s %10s\n", "", "time", "metadata", "data",
                    "compute", "I/O", "both", "messages");
        return true;
    }

    void run(Scenario const& scenario, std::string const& mode, std::string const& name) {
        std::fprintf(stderr, "\r%s, %d ranks, %s: %s\033[K", machine_.c_str(),
                     scenario.machine.ranks(), scenario.pattern.name.c_str(), name.c_str());
        auto const outcome = simulated::run(experiment_of(scenario));
        std::fprintf(stderr, "\r\033[K");
        auto const& parts = outcome.largest;
        std::printf("  %-28s %9s %9s %9s %9s %9s %9s %10lld%s%s\n", name.c_str(),
                    seconds_text(outcome.seconds).c_str(), seconds_text(parts.metadata).c_str(),
                    seconds_text(parts.data).c_str(), seconds_text(parts.computation).c_str(),
                    seconds_text(parts.storage).c_str(), seconds_text(parts.both).c_str(),
                    static_cast<long long>(outcome.messages), outcome.fault.empty() ? "" : "  ",
                    outcome.fault.c_str());
        std::fflush(stdout);
        wrong_ += outcome.fault.empty() ? 0 : 1;
        if (options_.json == nullptr) return;
        std::string const more = "\"mode\": \"" + mode + "\", \"machine\": \"" + machine_ +
                                 "\", \"name\": \"" + name + "\", ";
        std::fprintf(options_.json, "%s\n", json(scenario, outcome, more).c_str());
        std::fflush(options_.json);
    }

    [[nodiscard]] int result() const noexcept { return wrong_ == 0 ? 0 : 1; }

private:
    ExchangeOptions const& options_;
    std::string machine_;
    int wrong_ = 0;
};

}  // namespace

Scenario scenario_of(ExchangeOptions const& options, std::string const& machine, Rank ranks,
                     std::string const& pattern) {
    Scenario scenario;
    scenario.machine = simulated::machine_named(machine).value();
    scenario.machine.set_ranks(ranks);
    scenario.machine.device = options.device;
    scenario.pattern.name = pattern;
    scenario.pattern.bytes = options.bytes;
    scenario.pattern.piece_bytes = options.piece_bytes;
    scenario.pattern.published = options.published;
    scenario.direction = options.direction;
    scenario.hints.write = scenario.hints.read = Strategy::two_phase;
    scenario.hints.window_bytes = options.window_bytes;
    scenario.checked = options.checked;
    if (pattern != "e3sm") return scenario;
    auto const file = read_decomposition("");
    if (file.error.empty()) scenario.pattern.decomposition = patterns::Decomposition(file.text);
    return scenario;
}

int sweep_throttles(ExchangeOptions const& options) {
    constexpr std::int32_t messages[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, Throttle::none};
    Table table(options);
    for (Rank const ranks : options.ranks) {
        for (std::string const& machine : options.machines) {
            Scenario scenario = scenario_of(options, machine, ranks, options.patterns.front());
            if (!table.begin(machine, scenario)) continue;
            for (auto const kernel : {Kernel::ascending, Kernel::balanced}) {
                for (std::uint8_t const batches : {std::uint8_t{0}, std::uint8_t{1}}) {
                    for (std::int32_t const count : messages) {
                        if (count == Throttle::none && batches != 0) continue;  // The same.
                        Hints& hints = scenario.hints;
                        Throttle const throttle{count, batches};
                        hints.metadata = hints.data = one_layer(kernel, throttle);
                        table.run(scenario, "throttle",
                                  std::string(describe(kernel)) + " " + describe(throttle));
                    }
                }
            }
        }
    }
    return table.result();
}

int compare_kernels(ExchangeOptions const& options) {
    Table table(options);
    for (Rank const ranks : options.ranks) {
        for (std::string const& machine : options.machines) {
            for (std::string const& pattern : options.patterns) {
                Scenario scenario = scenario_of(options, machine, ranks, pattern);
                if (!table.begin(machine, scenario)) continue;
                for (Contender const& contender : contenders) {
                    scenario.hints.metadata = contender.metadata;
                    scenario.hints.data = contender.data;
                    scenario.local_aggregators = contender.local_aggregators;
                    table.run(scenario, "kernels", contender.name);
                }
            }
        }
    }
    return table.result();
}

}  // namespace sluice::tools
