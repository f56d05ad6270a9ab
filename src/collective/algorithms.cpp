// The table of algorithms, with their generators. See algorithms.hpp.
#include "collective/parts.hpp"
#include "collective/reductions.hpp"

#include <bit>

namespace sluice {
namespace {

/// Larger blocks never gain from being sent log P times.
constexpr Bytes bruck_block_max = 16 << 10;

std::vector<Algorithm> allgather_algorithms(Rank ranks) {
    auto const all = static_cast<std::uint32_t>(ranks);
    if (ranks <= 2) return {Algorithm::linear, Algorithm::ring};
    if (std::has_single_bit(all)) {
        return {Algorithm::recursive_doubling, Algorithm::ring, Algorithm::linear,
                Algorithm::bruck};
    }
    return {Algorithm::bruck, Algorithm::recursive_doubling, Algorithm::ring, Algorithm::linear};
}

std::vector<Algorithm> alltoall_algorithms(CollectiveCall const& call, Rank ranks) {
    if (ranks <= 2) return {Algorithm::linear};
    std::vector<Algorithm> all{Algorithm::linear, Algorithm::pairwise};
    if (call.kind == CollectiveKind::alltoall && call.block <= bruck_block_max) {
        all.insert(all.begin() + (ranks <= 4), Algorithm::bruck);
    }
    return all;
}

}  // namespace

char const* describe(Algorithm algorithm) noexcept {
    switch (algorithm) {
    case Algorithm::linear:
        return "linear";
    case Algorithm::pairwise:
        return "pairwise";
    case Algorithm::binomial:
        return "binomial";
    case Algorithm::chain:
        return "chain";
    case Algorithm::recursive_doubling:
        return "recursive_doubling";
    case Algorithm::recursive_halving:
        return "recursive_halving";
    case Algorithm::ring:
        return "ring";
    case Algorithm::dissemination:
        return "dissemination";
    case Algorithm::bruck:
        return "bruck";
    case Algorithm::scatter_allgather:
        return "scatter_allgather";
    case Algorithm::rabenseifner:
        return "rabenseifner";
    }
    return "?";
}

std::vector<Algorithm> algorithms_of(CollectiveCall const& call, Rank ranks) {
    if (reduces(call.kind)) return reduction_algorithms_of(call, ranks);
    switch (call.kind) {
    case CollectiveKind::barrier:
        return {Algorithm::dissemination, Algorithm::binomial, Algorithm::linear};
    case CollectiveKind::bcast:
        return {Algorithm::binomial, Algorithm::linear, Algorithm::chain,
                Algorithm::scatter_allgather};
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
        if (ranks <= 2) return {Algorithm::linear};
        return {Algorithm::binomial, Algorithm::linear};
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
        return allgather_algorithms(ranks);
    case CollectiveKind::alltoall:
    case CollectiveKind::alltoallv:
        return alltoall_algorithms(call, ranks);
    default:
        return {Algorithm::linear};
    }
}

CollectiveSchedule make_collective(CollectiveCall const& call, Algorithm algorithm, Rank self,
                                   Rank ranks, Bytes segment) {
    if (reduces(call.kind)) {
        return make_reduction_collective(call, algorithm, self, ranks, segment);
    }
    CollectiveBuilder builder;
    Part const part{call, algorithm, self, ranks, segment};
    switch (call.kind) {
    case CollectiveKind::barrier:
        add_barrier(builder, part);
        break;
    case CollectiveKind::bcast:
        add_bcast(builder, part);
        break;
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
        add_gather(builder, part);
        break;
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
        add_scatter(builder, part);
        break;
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
        add_allgather(builder, part);
        break;
    case CollectiveKind::alltoall:
    case CollectiveKind::alltoallv:
        add_alltoall(builder, part);
        break;
    default:
        add_neighbors(builder, part);
    }
    return std::move(builder).take();
}

}  // namespace sluice
