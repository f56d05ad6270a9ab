// Turn-taking and clocks of MPI programs that measure. Every function here is collective over
// MPI_COMM_WORLD unless it touches nothing but this rank.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::bench {

/// Ends the job with MPI's own words if `code` is an error: a half-measured pair is worth nothing.
void check(int code, char const* what);

/// Collective, all four. A rank that waits in them sleeps between two looks: MPIs spin, and where
/// ranks share a core that takes it from one which is still in the call that is timed.
void wait_for_all();
/// The largest value of all ranks, on all ranks: a collective call is as slow as its slowest rank.
double max_over_ranks(double value);
std::uint64_t sum_over_ranks(std::uint64_t value);
double total_over_ranks(double value);

/// Collective at the first call, both. Nodes are groups of ranks that the MPI says share memory,
/// each named by its first rank.
std::vector<int> const& nodes_of_ranks();
int node_count();

/// Collective. All ranks return at one instant, for which they wait asleep.
void start_together();

/// The clock of the node, in seconds.
double now();

/// Collective. From the first rank's begin to the last rank's end: where ranks share a core one may
/// begin only when the other has ended. With several nodes, whose clocks differ, the longest.
double span_over_ranks(double begin, double end);

/// Collective. Seconds of `action`, by span_over_ranks. The ranks start together; who is done
/// sleeps until all are.
double time_together(std::function<void()> const& action);

}  // namespace sluice::bench
