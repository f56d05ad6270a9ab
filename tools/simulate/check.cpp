// The loop over kernels and patterns. See check.hpp.
#include "tools/simulate/check.hpp"

#include "bench/measure/decomposition_file.hpp"

#include "tools/simulate/report.hpp"

#include <cstdio>

namespace sluice::tools {
namespace {

constexpr Kernel kernels[] = {Kernel::ascending, Kernel::pairwise, Kernel::spread_out,
                              Kernel::balanced, Kernel::even};

/// Counts, and tells on stderr where it is.
class Tally {
public:
    explicit Tally(std::size_t runs) : runs_(runs) {}
    void add(Scenario const& scenario, simulated::Outcome const& outcome) {
        ++done_;
        std::fprintf(stderr, "\r%zu of %zu: %s of %s, %s\033[K", done_, runs_,
                     describe(scenario.direction), scenario.pattern.name.c_str(),
                     kernels_text(scenario.hints).c_str());
        if (outcome.fault.empty()) return;
        ++wrong_;
        std::printf("%s of %s, %s: %s\n", describe(scenario.direction),
                    scenario.pattern.name.c_str(), kernels_text(scenario.hints).c_str(),
                    outcome.fault.c_str());
    }
    [[nodiscard]] std::size_t wrong() const noexcept { return wrong_; }
    [[nodiscard]] std::size_t done() const noexcept { return done_; }

private:
    std::size_t runs_, done_ = 0, wrong_ = 0;
};

/// Every kernel with the usual throttle; the others with one that needs its messages in order.
std::vector<Hints> all_hints(Hints hints) {
    std::vector<Hints> all;
    hints.write = hints.read = Strategy::two_phase;
    for (Delivery const delivery : all_deliveries()) {
        hints.metadata = hints.data = delivery;
        all.push_back(hints);
    }
    for (Throttle const throttle : all_throttles()) {
        hints.metadata =
            hints.data = {.kernel = Kernel::balanced, .layers = Layers::one, .throttle = throttle};
        all.push_back(hints);
    }
    hints.metadata = {Kernel::balanced, Layers::one};
    hints.data = {Kernel::ascending, Layers::two};
    all.push_back(hints);
    return all;
}

}  // namespace

std::vector<Delivery> all_deliveries() {
    std::vector<Delivery> all;
    for (auto const layers : {Layers::one, Layers::two}) {
        for (Kernel const kernel : kernels) all.push_back({.kernel = kernel, .layers = layers});
        all.push_back({.kernel = Kernel::ascending, .layers = layers, .synchronous = 1});
        all.push_back({.kernel = Kernel::balanced, .layers = layers, .stride = 3});
    }
    for (Delivery& each : all) each.throttle.messages = Throttle::usual;
    return all;
}

std::vector<Throttle> all_throttles() { return {{Throttle::none}, {1}, {4}, {Throttle::usual, 1}}; }

int check_kernels(Scenario const& scenario) {
    std::vector<Scenario> all;
    for (std::string const& name : patterns::pattern_names()) {
        Scenario one = scenario;
        one.pattern.name = name;
        if (name == "e3sm") one.pattern.decomposition = read_decomposition("").text;
        if (auto const impossible = why_not(one); !impossible.empty()) {
            std::printf("%s is left out: it %s\n", name.c_str(), impossible.c_str());
            continue;
        }
        for (Hints const& hints : all_hints(scenario.hints)) {
            for (auto const way : {Direction::write, Direction::read}) {
                one.hints = hints, one.direction = way;
                all.push_back(one);
            }
        }
    }
    Tally tally(all.size());
    for (Scenario const& one : all) tally.add(one, simulated::run(experiment_of(one)));
    std::fprintf(stderr, "\r\033[K");
    std::printf("%zu runs of %d ranks, %zu wrong\n", tally.done(), scenario.machine.ranks(),
                tally.wrong());
    return tally.wrong() == 0 ? 0 : 1;
}

}  // namespace sluice::tools
