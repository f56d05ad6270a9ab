// What planning costs for real: time and memory of each rank, at more and more ranks.
#include "simulate/world.hpp"
#include "study/exchange/allocations.hpp"
#include "study/exchange/exchange.hpp"
#include "tools/simulate/report.hpp"

#include <chrono>

namespace sluice::tools {
namespace {

double now() {
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

/// One rank's real time and memory.
struct Cost {
    double seconds = 0;
    std::int64_t held = 0, peak = 0, allocations = 0;
};

class CostMeter final : public simulated::Meter {
public:
    explicit CostMeter(Rank ranks) : costs_(static_cast<std::size_t>(ranks)) {}
    void begin(Rank) override {
        before_ = allocations();
        begin_ = now();
    }
    void end(Rank rank) override {
        Cost& cost = costs_[static_cast<std::size_t>(rank)];
        cost.seconds += now() - begin_;
        cost.allocations += allocations().count - before_.count;
        cost.held += allocations().bytes - before_.bytes;
        cost.peak = std::max(cost.peak, cost.held);
    }
    [[nodiscard]] std::vector<Cost> const& costs() const noexcept { return costs_; }

private:
    std::vector<Cost> costs_;
    double begin_ = 0;
    Allocations before_;
};

struct Costs {
    Cost mean, most;
};

Costs reduced(std::vector<Cost> const& costs) {
    Costs all;
    Cost sum;
    for (Cost const& cost : costs) {
        sum.seconds += cost.seconds, sum.held += cost.held, sum.peak += cost.peak;
        sum.allocations += cost.allocations;
        all.most.seconds = std::max(all.most.seconds, cost.seconds);
        all.most.held = std::max(all.most.held, cost.held);
        all.most.peak = std::max(all.most.peak, cost.peak);
        all.most.allocations = std::max(all.most.allocations, cost.allocations);
    }
    auto const ranks = static_cast<std::int64_t>(costs.size());
    all.mean = {sum.seconds / static_cast<double>(ranks), sum.held / ranks, sum.peak / ranks,
                sum.allocations / ranks};
    return all;
}

/// The only table of all ranks: see base/topology.hpp.
Bytes topology_bytes(Rank ranks) noexcept { return Bytes{ranks} * 4 * Bytes{sizeof(Rank)}; }

int measure(ExchangeOptions const& options, Rank ranks, Layers layers) {
    Scenario scenario;
    scenario.machine = simulated::machine_named("knl").value();
    scenario.machine.set_ranks(ranks);
    scenario.pattern.bytes = options.bytes;
    scenario.pattern.piece_bytes = options.piece_bytes;
    Hints& hints = scenario.hints;
    hints.write = hints.read = Strategy::two_phase;
    hints.window_bytes = options.window_bytes;
    hints.metadata = hints.data = {.kernel = Kernel::balanced,
                                   .layers = layers,
                                   .synchronous = 1,
                                   .throttle = {Throttle::usual}};
    auto experiment = experiment_of(scenario);
    CostMeter meter(ranks);
    experiment.meter = &meter;
    std::fprintf(stderr, "\r%d ranks\033[K", ranks);
    auto const outcome = simulated::run(experiment);
    std::fprintf(stderr, "\r\033[K");
    auto const [mean, most] = reduced(meter.costs());
    char const* const name = layers == Layers::one ? "one layer" : "two layers";
    std::printf("%6d  %-10s %10s %10s %10s %10s %10s %10s %8lld %s\n", ranks, name,
                seconds_text(mean.seconds).c_str(), seconds_text(most.seconds).c_str(),
                bytes_text(static_cast<double>(mean.peak)).c_str(),
                bytes_text(static_cast<double>(most.peak)).c_str(),
                bytes_text(static_cast<double>(most.held)).c_str(),
                bytes_text(static_cast<double>(topology_bytes(ranks))).c_str(),
                static_cast<long long>(mean.allocations), outcome.fault.c_str());
    std::fflush(stdout);
    if (options.json != nullptr) {
        std::fprintf(options.json,
                     "{\"mode\": \"planning\", \"ranks\": %d, \"layers\": \"%s\", "
                     "\"seconds_mean\": %.6g, \"seconds_most\": %.6g, \"peak_mean\": %lld, "
                     "\"peak_most\": %lld, \"held_mean\": %lld, \"held_most\": %lld, "
                     "\"topology\": %lld, \"allocations_mean\": %lld}\n",
                     ranks, name, mean.seconds, most.seconds, static_cast<long long>(mean.peak),
                     static_cast<long long>(most.peak), static_cast<long long>(mean.held),
                     static_cast<long long>(most.held),
                     static_cast<long long>(topology_bytes(ranks)),
                     static_cast<long long>(mean.allocations));
        std::fflush(options.json);
    }
    return outcome.fault.empty() ? 0 : 1;
}

}  // namespace

int measure_planning(ExchangeOptions const& options) {
    std::printf("one write of %s a rank in pieces of %s; 64 ranks a node; real time and memory\n",
                bytes_text(static_cast<double>(options.bytes)).c_str(),
                bytes_text(static_cast<double>(options.piece_bytes)).c_str());
    std::printf("%6s  %-10s %10s %10s %10s %10s %10s %10s %8s\n", "ranks", "", "time", "at most",
                "memory", "at most", "kept", "topology", "allocs");
    int result = 0;
    for (auto const layers : {Layers::one, Layers::two}) {
        for (Rank const ranks : options.ranks)
            result = std::max(result, measure(options, ranks, layers));
    }
    return result;
}

}  // namespace sluice::tools
