// A Summary says what a rank, or all ranks together, want of one collective call, in a record of
// fixed size. Each rank makes one from its request. Records are merged in rank order, so all ranks
// get the same result; nobody has a list of all ranks' spans. These functions are pure; plan.hpp
// goes on from the merged summary.
#pragma once
#include "base/fingerprint.hpp"
#include "base/request.hpp"
#include "base/status.hpp"
#include "file/plan/domains.hpp"
#include "file/plan/sketch.hpp"
#include "settings/hints.hpp"

#include <cstdint>

namespace sluice {

/// Which earlier operation of the operation queue a rank's request repeats, and how far away in the
/// file.
struct PlanLookup {
    static constexpr std::int64_t none = -1, any = -2;

    std::int64_t operation = none;  ///< `any`: wants no exchange, so fits all.
    Offset distance = 0;

    static PlanLookup of(std::int64_t operation, Offset distance) noexcept {
        return {operation, distance};
    }
    static PlanLookup of_any() noexcept { return {any, 0}; }
    [[nodiscard]] bool is_one() const noexcept { return operation >= 0; }
    bool operator==(PlanLookup const&) const = default;
};

/// What both plan lookup; none where they differ. Associative.
[[nodiscard]] PlanLookup agreed(PlanLookup a, PlanLookup b) noexcept;

/// Bytes that ranks move each for themselves.
struct Load {
    Bytes bytes = 0, bytes_most = 0;  ///< Of all, and of the rank with the most.
    std::int64_t pieces = 0, pieces_most = 0;
    std::int64_t ranks = 0;  ///< That have any.
    Span span;               ///< From the first to the last of them, of any rank.
    bool operator==(Load const&) const = default;
};

/// Of one rank.
[[nodiscard]] Load load_of(Request const& request) noexcept;

/// One rank's record, or several ranks' merged. Trivially copyable: it travels as bytes.
struct Summary {
    Span span;  ///< Of the bytes that want an exchange; may be empty.
    /// Of all bytes, also of those that go straight to the file; only of operations that are
    /// ordered.
    Span reach;
    Bytes bytes = 0;           ///< Wanted by all, without the direct ones.
    std::int64_t pieces = 0;   ///< Of the file, of the exchanged bytes.
    std::int64_t touched = 0;  ///< Windows with wanted bytes, of each rank; see blocks_touched().
    Bytes bytes_most = 0;      ///< Of the rank with the most.
    std::int64_t pieces_most = 0;
    std::int64_t stretches = 0;   ///< That the ranks of a node want together; of all nodes.
    Load independent;             ///< What went or goes straight to the file.
    std::uint64_t alignment = 0;  ///< See Layout::alignment_bits().
    // Of the exchanged bytes, where the scope asks for them.
    Fingerprint fingerprint;
    Sketch sketch;                 ///< Until the ranks of a node are merged: see close_node().
    PlanLookup plan_lookup;        ///< See file/plan/plan_cache.hpp.
    Offset end_of_file = endless;  ///< Where a read found the file to end, if it did.
    Hints hints;
    Bytes cb_buffer_bytes =
        endless;  ///< Staging memory that every node has for one collective buffer.
    std::int32_t cb_buffer_count = 1 << 20;
    Status status = Status::ok;
    std::uint32_t operation = 0;  ///< Direction and kind of call; equal on all ranks.
    std::uint32_t ranks = 1;
    std::uint8_t interleaved = 0;  ///< A rank's span begins before a lower rank's ends.
    std::uint8_t waiting = 1;      ///< All callers wait, and serve the file themselves.
    std::uint8_t pending = 0;      ///< A direct transfer is still under way.
    std::uint8_t hints_differ = 0;
    std::uint8_t unproven = 0;    ///< Of some rank's bytes the fingerprint is not known.
    std::uint8_t unsketched = 0;  ///< The same of the sketch.
    std::uint8_t foretold = 0;    ///< Reads that come next, as far as all ranks know them.
    /// Every node has memory for all rounds that can be under way at once, whatever others take.
    std::uint8_t staged_whole = 1;
    bool operator==(Summary const&) const = default;
};
static_assert(sizeof(Summary) == 536, "docs name it, and tests/documents.py compares them");

/// What is asked of a summary beside what every plan needs.
struct Scope {
    Bytes counted_bytes = 0;  ///< The window that Summary::touched counts; 0: nobody asks.
    FingerprintKey const* key = nullptr;  ///< Of the fingerprint; null: nobody asks for one.
    bool stretches = false;  ///< The sketch: nodes, or the model, ask what an exchange gains.
};

/// The record of one rank that asks for an exchange.
[[nodiscard]] Summary summarise(Request const& request, Scope scope = {});

/// The record of `lower` ranks followed by `higher` ones. Associative.
[[nodiscard]] Summary merge(Summary const& lower, Summary const& higher) noexcept;

/// Whether each byte of the span is wanted exactly once: the fingerprints prove it, and as many
/// bytes are wanted. Null: without a key nothing is proved.
[[nodiscard]] bool is_covered(Summary const& all, FingerprintKey const* key) noexcept;

/// Once all records of a node are merged, and before those of other nodes are: counts stretches.
void close_node(Summary& node) noexcept;

}  // namespace sluice
