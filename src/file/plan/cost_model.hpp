// The cost model says what a collective call would take if it were done in a given way. It is the
// model of "Exploring the Impact of NVM on MPI Collective I/O" (equations 1-5), without the limits
// that the paper names: messages within and between nodes have prices of their own, the slowest
// aggregator counts, rounds overlap, requests have a price beside that of their bytes, and planning
// takes time. docs/model.md has the notation. The functions are pure, and all ranks get the same
// results, because they are given the same numbers.
#pragma once
#include "base/machine.hpp"
#include "base/topology.hpp"
#include "file/plan/summary.hpp"
#include "file/plan/weights.hpp"

#include <span>
#include <string>
#include <vector>

namespace sluice {

/// What all ranks want, as the exchange of summaries tells it; of the bytes that no rank moved by
/// itself already.
struct Workload {
    Direction direction = Direction::write;
    double ranks = 1, nodes = 1;  ///< Of the communicator.
    double bytes = 0, pieces = 0;
    double bytes_most = 0, pieces_most = 0;  ///< Of the rank with the most.
    double span = 0;
    double touched = 0;  ///< Windows with wanted bytes, summed over ranks; 0: not known.
    double counted_bytes = 1 << 20;  ///< The length of these windows.
    double stretches = 0;  ///< That the ranks of a node want together; of all nodes. 0: not known.
    bool covered = false;  ///< Each byte of the span is wanted once.
    bool interleaved = false;
    double cores_a_node = 1;  ///< That this program may use.
    bool repeats = false;     ///< An earlier call's claims can be used again.
    bool blocking = true;     ///< Callers wait, so they serve the file themselves, in between.
    Weights const* weights = nullptr;  ///< Where in the span the bytes are; null: all over it.
};

[[nodiscard]] Workload workload_of(Summary const& all, Topology const& topology,
                                   std::int32_t cores_a_node, FingerprintKey const* key) noexcept;

/// One way to do it. What a strategy does not have stays as it is here.
struct Candidate {
    Strategy strategy = Strategy::independent;
    /// Reads: gaps of up to this length are read along (data sieving); 0: none.
    Bytes sieve_bytes = 0;
    // Two-phase:
    Domains domains = Domains::even;
    std::int32_t aggregators = 0;
    Bytes window_bytes = 0;
    Layers layers = Layers::automatic;  ///< Automatic: one node only, where nobody sends.
    bool operator==(Candidate const&) const = default;
};

/// Seconds of the slowest rank, by component. Exchange and storage overlap where there are several
/// rounds, so the sum of the parts may be more than the total.
struct Estimate {
    double planning = 0;  ///< Flattening, exchange of summaries, claims, agreement: T_other.
    double messages = 0;  ///< T_comm between nodes.
    double copies =
        0;  ///< T_comm within a node: to collective buffers and back, and waiting for each other.
    double storage = 0;  ///< T_IO.
    double total = 0;
    bool operator==(Estimate const&) const = default;
};

[[nodiscard]] Estimate price(Candidate const& candidate, Workload const& work,
                             MachineProfile const& machine) noexcept;

struct Priced {
    Candidate candidate;
    Estimate estimate;
};

/// What hints and memory leave open.
struct Freedom {
    Hints hints;
    std::int32_t aggregators_most = 1;
    Bytes window_most = 0;   ///< What staging memory allows.
    bool can_group = false;  ///< Domains::groups are possible.
};

/// All ways that are left open, priced, the cheapest first. Never empty.
[[nodiscard]] std::vector<Priced> price_all(Workload const& work, MachineProfile const& machine,
                                            Freedom const& freedom);
/// The first of price_all(). Among candidates within `margin` of the cheapest the one that comes
/// first in a fixed order, so that noise in a profile does not decide.
[[nodiscard]] Priced choose(Workload const& work, MachineProfile const& machine,
                            Freedom const& freedom);

/// When a rank sends its bytes straight to the file, before it asks the others: no plan could be
/// faster. From a measured profile.
struct IndependentRule {
    Bytes contiguous_bytes = 0;  ///< Requests of one piece, from this size on.
    Bytes piece_bytes = 0;       ///< Requests of several: their mean piece, from this size on.
};
[[nodiscard]] IndependentRule independent_rule(MachineProfile const& machine, Direction direction,
                                               Rank ranks) noexcept;

/// Gaps between wanted bytes of up to this length are better read along than skipped.
[[nodiscard]] Bytes sieve_bytes(MachineProfile const& machine, Rank clients) noexcept;

/// The windows worth having on this machine: from the size on at which longer requests to the
/// storage gain nothing much.
[[nodiscard]] Bytes window_bytes(MachineProfile const& machine, Direction direction) noexcept;

[[nodiscard]] std::string describe(Candidate const& candidate);
[[nodiscard]] std::string describe(Estimate const& estimate);

}  // namespace sluice
