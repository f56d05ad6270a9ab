// MPI's collectives as tables that say where each byte comes from. See semantics.hpp.
#include "simulate/proof/semantics.hpp"

#include "collective/parts.hpp"

namespace sluice {
namespace {

bool has_irregular_outputs(CollectiveKind kind) noexcept {
    switch (kind) {
    case CollectiveKind::gatherv:
    case CollectiveKind::allgatherv:
    case CollectiveKind::alltoallv:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::neighbor_allgatherv:
    case CollectiveKind::neighbor_alltoallv:
        return true;
    default:
        return false;
    }
}

/// The blocks of the output; of reduce_scatter: the parts of all ranks.
BlockMap targets(CollectiveCall const& call) {
    return has_irregular_outputs(call.kind) ? BlockMap(call.outputs) : BlockMap(call.block);
}

/// The blocks of the input of kinds that send each rank another one.
BlockMap sources(CollectiveCall const& call) {
    switch (call.kind) {
    case CollectiveKind::alltoallv:
        return BlockMap(call.in_place ? call.outputs : call.inputs);
    case CollectiveKind::scatterv:
    case CollectiveKind::neighbor_alltoallv:
        return BlockMap(call.inputs);
    default:
        return BlockMap(call.block);
    }
}

/// The place of the `n`th `rank` in a list, counted from 0; -1 where there are fewer.
Rank find_nth(std::vector<Rank> const& all, Rank rank, std::ptrdiff_t n) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == rank && n-- == 0) return static_cast<Rank>(i);
    }
    return -1;
}

using All = std::vector<Expected>;

/// A block of each rank.
All from_everybody(std::span<CollectiveCall const> calls, Rank self) {
    auto const& call = calls[static_cast<std::size_t>(self)];
    bool const same_for_all =
        call.kind != CollectiveKind::alltoall && call.kind != CollectiveKind::alltoallv;
    BlockMap const blocks = targets(call);
    All all;
    for (Rank r = 0; r < static_cast<Rank>(calls.size()); ++r) {
        Bytes const at = same_for_all ? 0 : sources(calls[static_cast<std::size_t>(r)]).at(self);
        all.push_back({blocks.at(r), blocks.bytes(r), {r, at}});
    }
    return all;
}

All from_neighbors(std::span<CollectiveCall const> calls, Rank self) {
    auto const& call = calls[static_cast<std::size_t>(self)];
    bool const same_for_all = call.kind == CollectiveKind::neighbor_allgather ||
                              call.kind == CollectiveKind::neighbor_allgatherv;
    BlockMap const blocks = targets(call);
    All all;
    for (std::size_t i = 0; i < call.sources.size(); ++i) {
        Rank const r = call.sources[i];
        if (r < 0) continue;
        auto const earlier = std::count(call.sources.begin(),
                                        call.sources.begin() + static_cast<std::ptrdiff_t>(i), r);
        auto const& theirs = calls[static_cast<std::size_t>(r)];
        Rank const edge = find_nth(theirs.destinations, self, earlier);
        Bytes const at = same_for_all || edge < 0 ? 0 : sources(theirs).at(edge);
        auto const n = static_cast<Rank>(i);
        all.push_back({blocks.at(n), blocks.bytes(n), {edge < 0 ? Contributors::nobody : r, at}});
    }
    return all;
}

}  // namespace

All brought_in_output(CollectiveCall const& call, Rank self, Rank ranks) {
    if (call.kind == CollectiveKind::bcast) {
        return self == call.root ? All{{0, call.block, {self, 0}}} : All{};
    }
    if (!is_in_place(call, self)) return {};
    switch (call.kind) {
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv: {
        BlockMap const blocks = targets(call);
        return {{blocks.at(self), blocks.bytes(self), {self, 0}}};
    }
    default:
        return {{0, output_bytes(call, self, ranks), {self, 0}}};
    }
}

All expected_output(std::span<CollectiveCall const> calls, Rank self, Contributors& contributors) {
    auto const& call = calls[static_cast<std::size_t>(self)];
    auto const ranks = static_cast<Rank>(calls.size());
    bool const is_root = self == call.root;
    switch (call.kind) {
    case CollectiveKind::barrier:
        return {};
    case CollectiveKind::bcast:
        return {{0, call.block, {call.root, 0}}};
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
        return is_root ? from_everybody(calls, self) : All{};
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv: {
        BlockMap const blocks = sources(calls[static_cast<std::size_t>(call.root)]);
        if (is_in_place(call, self)) return {};
        return {{0, blocks.bytes(self), {call.root, blocks.at(self)}}};
    }
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
    case CollectiveKind::alltoall:
    case CollectiveKind::alltoallv:
        return from_everybody(calls, self);
    case CollectiveKind::reduce:
        return is_root ? All{{0, call.block, {contributors.of(0, ranks), 0}}} : All{};
    case CollectiveKind::allreduce:
        return {{0, call.block, {contributors.of(0, ranks), 0}}};
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block: {
        BlockMap const parts = targets(call);
        return {{0, parts.bytes(self), {contributors.of(0, ranks), parts.at(self)}}};
    }
    case CollectiveKind::scan:
        return {{0, call.block, {contributors.of(0, self + 1), 0}}};
    case CollectiveKind::exscan:
        return self > 0 ? All{{0, call.block, {contributors.of(0, self), 0}}} : All{};
    case CollectiveKind::neighbor_allgather:
    case CollectiveKind::neighbor_allgatherv:
    case CollectiveKind::neighbor_alltoall:
    case CollectiveKind::neighbor_alltoallv:
        return from_neighbors(calls, self);
    }
    return {};
}

bool may_spoil(CollectiveCall const& call) noexcept {
    return call.in_place ? reduces(call.kind) : call.kind == CollectiveKind::exscan;
}

}  // namespace sluice
