// What both application kernels share: contenders in turn, the computation alone as one of them,
// and the communication overhead that is left of each.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "study/collective/measuring.hpp"
#include "study/collective/service.hpp"

namespace sluice::collectives {

/// One way to move an application's data.
struct Mover {
    std::string name;
    std::shared_ptr<Timed> service;
    bool tests = false;                         ///< While it computes.
    bool hides_sizes = false;                   ///< Compression: the gather of sizes as well.
    bool one_operation = false;                 ///< Compression: both gathers are one.
    std::vector<double> seconds{}, in_calls{};  ///< Of the slowest rank, by turn.
};

/// The computation alone, the MPI's blocking calls, then those ways that are wanted and there.
std::vector<Mover> movers(Job const& job);

/// Collective. Runs the application with all movers in turn, prints and records what is left of
/// each beside the computation. `run` returns seconds, `wrong` the bytes that came out wrong.
void measure_application(Job& job, std::string const& name, std::vector<Mover> all,
                         bench::Json const& description,
                         std::function<double(Mover const&)> const& run,
                         std::function<std::uint64_t()> const& wrong);

}  // namespace sluice::collectives
