// Reductions along a ring, a chain or a tree of ranks.
#include "collective/combiner.hpp"

namespace sluice {
namespace {

/// For each block a partial result goes once about the ring and ends where it is wanted.
class Ring {
public:
    explicit Ring(Combiner& combiner) : combiner_(combiner), part_(combiner.part()) {}

    void allreduce() {
        BlockMap const blocks = combiner_.divided(part_.ranks);
        combine(blocks, [&](Rank /*step*/) { return in_output; });
        for (Rank step = 0; step + 1 < part_.ranks; ++step) {
            combiner_.send(next(), in_output, stretch(blocks, -step));
            combiner_.recv(previous(), in_output, stretch(blocks, -step - 1));
        }
    }

    void reduce_scatter(BlockMap const& blocks) {
        Bytes largest = 0;
        for (Rank r = 0; r < part_.ranks; ++r) largest = std::max(largest, blocks.bytes(r));
        Place const places[] = {combiner_.scratch({0, largest}), combiner_.scratch({0, largest})};
        Stretch const own = combiner_.block(part_.self);
        Place const result = in_output + -own.begin;
        bool const is_free = !part_.in_place();
        combine(blocks, [&](Rank step) {
            if (step + 2 == part_.ranks && is_free) return result;
            return places[step % 2] + -stretch(blocks, -step - 2).begin;
        });
        if (!is_free) combiner_.copy(places[part_.ranks % 2] + -own.begin, result, own);
    }

private:
    [[nodiscard]] Rank next() const noexcept { return part_.rank_after(1); }
    [[nodiscard]] Rank previous() const noexcept { return part_.rank_after(-1); }
    [[nodiscard]] Stretch stretch(BlockMap const& blocks, Rank distance) const noexcept {
        Rank const block = (part_.self + distance % part_.ranks + part_.ranks) % part_.ranks;
        return {blocks.at(block), blocks.at(block + 1)};
    }

    /// `base_of(step)`: where the block that comes in this step is combined.
    template <class BaseOf> void combine(BlockMap const& blocks, BaseOf const& base_of) {
        Partial const own = combiner_.own();
        Place base = own.base;
        for (Rank step = 0; step + 1 < part_.ranks; ++step) {
            combiner_.send(next(), base, stretch(blocks, -step - 1));
            base = base_of(step);
            Stretch const what = stretch(blocks, -step - 2);
            if (own.writable) {
                combiner_.recv_left(previous(), base, what);
            } else {
                combiner_.recv_right(previous(), own.base, base, what);
            }
        }
    }

    Combiner& combiner_;
    Part const& part_;
};

/// Who is first: the root, unless the order of ranks leaves only rank 0. Then it sends the result.
Rank top_of(Combiner const& combiner) noexcept {
    return combiner.order() == Order::any ? combiner.part().call.root : 0;
}

}  // namespace

void add_ring_reduction(Combiner& combiner, BlockMap const& blocks) {
    Ring ring(combiner);
    if (combiner.part().call.kind == CollectiveKind::allreduce) return ring.allreduce();
    ring.reduce_scatter(blocks);
}

/// A subtree has ranks that follow each other, the children's above the parent's.
void add_binomial_reduction(Combiner& combiner) {
    Part const& part = combiner.part();
    Rank const top = top_of(combiner), root = part.call.root;
    BinomialTree const tree(part.self, top, part.ranks);
    std::vector<Taken> steps;
    tree.for_each_child([&](Rank child) { steps.push_back({tree.rank_of(child), false}); });
    bool const is_end = part.self == top && top == root;
    Accumulator sum(combiner, steps, is_end ? in_output : Place{}, combiner.order());
    for (Taken const& step : steps) sum.take(step, combiner.all());
    if (part.self != top) {
        sum.send(tree.rank_of(tree.parent()), combiner.all());
    } else if (!is_end) {
        sum.send(root, combiner.all());
    } else {
        sum.settle(combiner.all());
    }
    if (part.is_root() && !is_end) combiner.recv(top, in_output, combiner.all());
}

/// From the last rank, as numbered from the first one on, down to the first: each adds its elements
/// on the left.
void add_chain_reduction(Combiner& combiner) {
    Part const& part = combiner.part();
    Rank const top = top_of(combiner), root = part.call.root;
    bool const is_last = part.rank_after(1) == top, is_end = part.self == top && top == root;
    Rank const towards = part.self == top ? root : part.rank_after(-1);
    Partial const own = combiner.own();
    combiner.for_each_segment(combiner.all(), [&](Stretch segment) {
        if (is_last) return static_cast<void>(combiner.send(towards, own.base, segment));
        if (is_end && own.writable && combiner.order() == Order::any) {
            return combiner.recv_left(part.rank_after(1), in_output, segment);
        }
        Place const base = is_end && !own.writable ? in_output : combiner.slot(segment);
        combiner.recv_right(part.rank_after(1), own.base, base, segment);
        if (is_end) return combiner.copy(base, in_output, segment);
        combiner.send(towards, base, segment);
    });
    if (part.is_root() && !is_end) combiner.recv(top, in_output, combiner.all());
}

}  // namespace sluice
