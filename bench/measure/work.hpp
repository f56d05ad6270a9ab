// Computation of a known amount. It is counted in iterations, not by a clock: a core that was taken
// away meanwhile makes it last longer, and that is what must show.
#pragma once
#include <cstdint>
#include <functional>

namespace sluice::bench {

/// Pure arithmetic that no compiler can shorten.
void compute(std::uint64_t iterations);

/// The same, or computation of another kind; returns when it is done.
using Work = std::function<void(std::uint64_t iterations)>;

/// Computation that exchanges so many bytes with the ranks before and after it, in a ring, each few
/// hundred microseconds, as programs do with the edges of their parts. Its calls are collective.
[[nodiscard]] Work with_halos(std::uint64_t bytes);

/// Collective. Iterations that keep every rank busy for `seconds` while all ranks compute: with
/// more ranks than cores they share the cores, so each does less. Fitted at this very length,
/// because time slices, and ranks that finish early and spin, make the time not quite proportional
/// to work.
std::uint64_t iterations_lasting(double seconds, Work const& work = compute);

}  // namespace sluice::bench
