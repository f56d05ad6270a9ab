// The sweep and the comparison. See exchange.hpp.
#include "tools/simulate/exchange.hpp"

#include "bench/measure/decomposition_file.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>

namespace sluice::tools {
namespace {

constexpr Throttle all_at_once{Throttle::none}, usual{Throttle::usual}, one{1};

constexpr Delivery delivery(Kernel kernel, Layers layers, std::uint8_t synchronous = 0) {
    return {kernel, layers, RankList::nodes, synchronous};
}

/// ROMIO posts all messages at once; a pairwise exchange has one; the others are throttled.
constexpr Contender contenders[] = {
    {"ROMIO", delivery(Kernel::ascending, Layers::one), delivery(Kernel::ascending, Layers::one),
     all_at_once},
    {"ROMIO, issend", delivery(Kernel::ascending, Layers::one, 1),
     delivery(Kernel::ascending, Layers::one, 1), all_at_once},
    {"pairwise", delivery(Kernel::pairwise, Layers::one, 1),
     delivery(Kernel::pairwise, Layers::one, 1), one},
    {"spread-out", delivery(Kernel::spread_out, Layers::one, 1),
     delivery(Kernel::spread_out, Layers::one, 1), usual},
    {"balanced", delivery(Kernel::balanced, Layers::one, 1),
     delivery(Kernel::balanced, Layers::one, 1), usual},
    {"hybrid", delivery(Kernel::balanced, Layers::one, 1),
     delivery(Kernel::ascending, Layers::one, 1), usual},
    {"two-layer", delivery(Kernel::ascending, Layers::two),
     delivery(Kernel::ascending, Layers::two), all_at_once},
    {"two-layer, spread-out", delivery(Kernel::spread_out, Layers::two),
     delivery(Kernel::spread_out, Layers::two), usual},
    {"two-layer, balanced", delivery(Kernel::balanced, Layers::two),
     delivery(Kernel::balanced, Layers::two), usual},
    {"the library's choice", {}, {}, {}},
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
        std::printf("  %-22s %9s %9s %9s %9s %9s %9s %10s\n", "", "time", "metadata", "data",
                    "compute", "I/O", "both", "messages");
        return true;
    }

    void run(Scenario const& scenario, std::string const& mode, std::string const& name) {
        std::fprintf(stderr, "\r%s, %d ranks, %s: %s\033[K", machine_.c_str(),
                     scenario.machine.ranks(), scenario.pattern.name.c_str(), name.c_str());
        auto const outcome = simulated::run(experiment_of(scenario));
        std::fprintf(stderr, "\r\033[K");
        auto const& parts = outcome.largest;
        std::printf("  %-22s %9s %9s %9s %9s %9s %9s %10lld%s%s\n", name.c_str(),
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

std::span<Contender const> exchange_contenders() noexcept { return contenders; }

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
                        hints.metadata = hints.data = delivery(kernel, Layers::one, 1);
                        hints.throttle = {count, batches};
                        table.run(scenario, "throttle",
                                  std::string(describe(kernel)) + " " + describe(hints.throttle));
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
                    scenario.hints.throttle = contender.throttle;
                    table.run(scenario, "kernels", contender.name);
                }
            }
        }
    }
    return table.result();
}

}  // namespace sluice::tools
