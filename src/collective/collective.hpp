// MPI's collective operations between memories, as sizes: a schedule depends on nothing else.
// Addresses and datatypes are bound later (collective/operation.hpp), so one schedule serves every
// call of equal sizes. collective/algorithms.hpp makes it. Pure.
#pragma once
#include "base/extent.hpp"
#include "base/topology.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// MPI-4.1, chapter 6 and section 8.6. The irregular forms (v, w) of a kind differ from it only in
/// what a rank knows of the others: see CollectiveCall.
enum class CollectiveKind : std::uint8_t {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,  ///< And alltoallw: the same sizes, datatypes are bound later.
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,  ///< And neighbor_alltoallw.
};
inline constexpr int collective_kinds = 20;

[[nodiscard]] char const* describe(CollectiveKind kind) noexcept;
/// Combines elements: reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan.
[[nodiscard]] bool reduces(CollectiveKind kind) noexcept;

/// What one rank brings to a call. Sizes are bytes of packed data: count times the datatype's size.
///
/// A rank's memory is two streams of bytes, *input* and *output*, in which its blocks follow each
/// other in the order of ranks (or of neighbours), without gaps:
///
/// | kind | input | output | `block` | `inputs`, `outputs` |
/// |---|---|---|---|---|
/// | barrier | - | - | 0 | |
/// | bcast | - | the buffer, on all ranks | its bytes | |
/// | gather | own block | root: P blocks | of each rank | |
/// | gatherv | own block | root: P blocks | own | root: `outputs` |
/// | scatter | root: P blocks | own block | of each rank | |
/// | scatterv | root: P blocks | own block | own | root: `inputs` |
/// | allgather | own block | P blocks | of each rank | |
/// | allgatherv | own block | P blocks | own | `outputs` |
/// | alltoall | P blocks | P blocks | of each pair | |
/// | alltoallv | P blocks | P blocks | 0 | both |
/// | reduce | all elements | root: all elements | all | |
/// | allreduce, scan, exscan | all elements | all elements | all | |
/// | reduce_scatter | all elements | own part | 0 | `outputs`: the parts of all ranks |
/// | reduce_scatter_block | P blocks | own block | of each rank | |
/// | neighbor_allgather | own block | a block of each source | of each rank | |
/// | neighbor_allgatherv | own block | a block of each source | own | `outputs` |
/// | neighbor_alltoall | a block to each destination | of each source | of each | |
/// | neighbor_alltoallv | the same | the same | 0 | both |
///
/// In place there is no input (but on the ranks of gather, scatter, reduce that are not root, whose
/// buffers are as ever): what a rank brings lies in the output where its result comes to lie: its
/// block of gather and allgather, all blocks of alltoall, all elements of reductions (of
/// reduce_scatter: the output stream then has all elements, and the result is at its beginning).
/// In scatter the root's own block stays in the input.
struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::barrier;
    bool in_place = false;
    bool commutative = true;  ///< Reductions: elements may be combined in any order.
    Rank root = 0;
    Bytes element = 1;  ///< Reductions: bytes of one element; nothing is divided inside of one.
    Bytes block = 0;
    std::vector<Bytes> inputs, outputs;       ///< Of the irregular kinds: bytes of each block.
    std::vector<Rank> sources, destinations;  ///< Of the neighbourhood kinds, in their order.
    bool operator==(CollectiveCall const&) const = default;
};

/// Whether what `self` brings lies in its output; of scatter: its block stays in its input.
[[nodiscard]] bool is_in_place(CollectiveCall const& call, Rank self) noexcept;

/// The bytes of a rank's input and output streams.
[[nodiscard]] Bytes input_bytes(CollectiveCall const& call, Rank self, Rank ranks) noexcept;
[[nodiscard]] Bytes output_bytes(CollectiveCall const& call, Rank self, Rank ranks) noexcept;

/// For tables: equal calls have equal numbers.
[[nodiscard]] std::uint64_t hash(CollectiveCall const& call) noexcept;

}  // namespace sluice
