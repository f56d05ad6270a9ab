// Which algorithms serve the collectives that combine elements. See reductions.hpp.
#include "collective/reductions.hpp"

#include "collective/combiner.hpp"

namespace sluice {
namespace {

BlockMap blocks_of(CollectiveCall const& call, Rank ranks) {
    switch (call.kind) {
    case CollectiveKind::reduce_scatter:
        return BlockMap(call.outputs);
    case CollectiveKind::reduce_scatter_block:
        return BlockMap(call.block);
    default: {  // The elements are one block, of nobody in particular.
        std::vector<Bytes> sizes(static_cast<std::size_t>(ranks));
        sizes.front() = call.block;
        return BlockMap(sizes);
    }
    }
}

void add_reduction(Combiner& combiner, BlockMap const& blocks) {
    auto const kind = combiner.part().call.kind;
    bool const scans = kind == CollectiveKind::scan || kind == CollectiveKind::exscan;
    switch (combiner.part().algorithm) {
    case Algorithm::linear:
        return add_linear_reduction(combiner);
    case Algorithm::pairwise:
        return add_pairwise_reduction(combiner);
    case Algorithm::binomial:
        return add_binomial_reduction(combiner);
    case Algorithm::chain:
        return scans ? add_chain_scan(combiner) : add_chain_reduction(combiner);
    case Algorithm::ring:
        return add_ring_reduction(combiner, blocks);
    case Algorithm::rabenseifner:
    case Algorithm::recursive_halving:
        return add_halving(combiner);
    default:
        return scans ? add_doubling_scan(combiner) : add_doubling(combiner);
    }
}

}  // namespace

std::vector<Algorithm> reduction_algorithms_of(CollectiveCall const& call, Rank /*ranks*/) {
    using enum Algorithm;
    switch (call.kind) {
    case CollectiveKind::reduce:
        return {binomial, linear, rabenseifner, chain};
    case CollectiveKind::allreduce:
        if (!call.commutative) return {recursive_doubling, linear, rabenseifner};
        return {recursive_doubling, linear, rabenseifner, ring};
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
        if (!call.commutative) return {recursive_doubling, linear, pairwise};
        return {recursive_halving, linear, pairwise, ring};
    default:
        return {recursive_doubling, linear, chain};
    }
}

CollectiveSchedule make_reduction_collective(CollectiveCall const& call, Algorithm algorithm,
                                             Rank self, Rank ranks, Bytes segment) {
    CollectiveBuilder builder;
    Part const part{call, algorithm, self, ranks, segment};
    BlockMap const blocks = blocks_of(call, ranks);
    if (ranks > 1) {
        Combiner combiner(builder, part, blocks);
        add_reduction(combiner, blocks);
    } else if (!part.in_place() && call.kind != CollectiveKind::exscan) {
        builder.copy(in_input, in_output, blocks.at(ranks));
    }
    return std::move(builder).take();
}

}  // namespace sluice
