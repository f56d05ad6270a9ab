// The names and the sizes of collective operations. See collective.hpp.
#include "collective/collective.hpp"

#include <numeric>

namespace sluice {
namespace {

Bytes sum(std::vector<Bytes> const& all) noexcept {
    return std::accumulate(all.begin(), all.end(), Bytes{0});
}

Bytes at(std::vector<Bytes> const& all, Rank rank) noexcept {
    return all[static_cast<std::size_t>(rank)];
}

/// What a rank brings where nothing is in place.
Bytes brought_bytes(CollectiveCall const& call, bool is_root, Rank ranks) noexcept {
    switch (call.kind) {
    case CollectiveKind::barrier:
    case CollectiveKind::bcast:
        return 0;
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
    case CollectiveKind::neighbor_allgather:
    case CollectiveKind::neighbor_allgatherv:
        return call.block;
    case CollectiveKind::scatter:
        return is_root ? ranks * call.block : 0;
    case CollectiveKind::scatterv:
        return is_root ? sum(call.inputs) : 0;
    case CollectiveKind::alltoall:
    case CollectiveKind::reduce_scatter_block:
        return ranks * call.block;
    case CollectiveKind::alltoallv:
    case CollectiveKind::neighbor_alltoallv:
        return sum(call.inputs);
    case CollectiveKind::reduce_scatter:
        return sum(call.outputs);
    case CollectiveKind::neighbor_alltoall:
        return static_cast<Bytes>(call.destinations.size()) * call.block;
    }
    return 0;
}

/// What a rank gets where nothing is in place.
Bytes taken_bytes(CollectiveCall const& call, Rank self, Rank ranks) noexcept {
    bool const is_root = self == call.root;
    switch (call.kind) {
    case CollectiveKind::barrier:
        return 0;
    case CollectiveKind::bcast:
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
    case CollectiveKind::allreduce:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
    case CollectiveKind::reduce_scatter_block:
        return call.block;
    case CollectiveKind::gather:
        return is_root ? ranks * call.block : 0;
    case CollectiveKind::gatherv:
        return is_root ? sum(call.outputs) : 0;
    case CollectiveKind::allgather:
    case CollectiveKind::alltoall:
        return ranks * call.block;
    case CollectiveKind::allgatherv:
    case CollectiveKind::alltoallv:
    case CollectiveKind::neighbor_allgatherv:
    case CollectiveKind::neighbor_alltoallv:
        return sum(call.outputs);
    case CollectiveKind::reduce:
        return is_root ? call.block : 0;
    case CollectiveKind::reduce_scatter:
        return at(call.outputs, self);
    case CollectiveKind::neighbor_allgather:
    case CollectiveKind::neighbor_alltoall:
        return static_cast<Bytes>(call.sources.size()) * call.block;
    }
    return 0;
}

bool scatters_from_root(CollectiveKind kind) noexcept {
    return kind == CollectiveKind::scatter || kind == CollectiveKind::scatterv;
}

bool scatters_results(CollectiveKind kind) noexcept {
    return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce_scatter_block;
}

class Hash {
public:
    void add(std::uint64_t value) noexcept {
        hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15;
        hash_ ^= hash_ >> 32;
    }
    template <class T> void add(std::vector<T> const& all) noexcept {
        add(all.size());
        for (T const one : all) add(static_cast<std::uint64_t>(one));
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

char const* describe(CollectiveKind kind) noexcept {
    switch (kind) {
    case CollectiveKind::barrier:
        return "barrier";
    case CollectiveKind::bcast:
        return "bcast";
    case CollectiveKind::gather:
        return "gather";
    case CollectiveKind::gatherv:
        return "gatherv";
    case CollectiveKind::scatter:
        return "scatter";
    case CollectiveKind::scatterv:
        return "scatterv";
    case CollectiveKind::allgather:
        return "allgather";
    case CollectiveKind::allgatherv:
        return "allgatherv";
    case CollectiveKind::alltoall:
        return "alltoall";
    case CollectiveKind::alltoallv:
        return "alltoallv";
    case CollectiveKind::reduce:
        return "reduce";
    case CollectiveKind::allreduce:
        return "allreduce";
    case CollectiveKind::reduce_scatter:
        return "reduce_scatter";
    case CollectiveKind::reduce_scatter_block:
        return "reduce_scatter_block";
    case CollectiveKind::scan:
        return "scan";
    case CollectiveKind::exscan:
        return "exscan";
    case CollectiveKind::neighbor_allgather:
        return "neighbor_allgather";
    case CollectiveKind::neighbor_allgatherv:
        return "neighbor_allgatherv";
    case CollectiveKind::neighbor_alltoall:
        return "neighbor_alltoall";
    case CollectiveKind::neighbor_alltoallv:
        return "neighbor_alltoallv";
    }
    return "?";
}

bool reduces(CollectiveKind kind) noexcept {
    switch (kind) {
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
        return true;
    default:
        return false;
    }
}

bool is_in_place(CollectiveCall const& call, Rank self) noexcept {
    switch (call.kind) {
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
    case CollectiveKind::reduce:
        return call.in_place && self == call.root;
    default:
        return call.in_place;
    }
}

Bytes input_bytes(CollectiveCall const& call, Rank self, Rank ranks) noexcept {
    if (is_in_place(call, self) && !scatters_from_root(call.kind)) return 0;
    return brought_bytes(call, self == call.root, ranks);
}

Bytes output_bytes(CollectiveCall const& call, Rank self, Rank ranks) noexcept {
    if (is_in_place(call, self)) {
        if (scatters_from_root(call.kind)) return 0;
        if (scatters_results(call.kind)) return brought_bytes(call, self == call.root, ranks);
    }
    return taken_bytes(call, self, ranks);
}

std::uint64_t hash(CollectiveCall const& call) noexcept {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(call.kind) | std::uint64_t{call.in_place} << 8 |
             std::uint64_t{call.commutative} << 9 | static_cast<std::uint64_t>(call.root) << 16);
    hash.add(static_cast<std::uint64_t>(call.element));
    hash.add(static_cast<std::uint64_t>(call.block));
    if (call.inputs.empty() && call.outputs.empty() && call.sources.empty() &&
        call.destinations.empty()) {
        return hash.value();
    }
    hash.add(call.inputs);
    hash.add(call.outputs);
    hash.add(call.sources);
    hash.add(call.destinations);
    return hash.value();
}

}  // namespace sluice
