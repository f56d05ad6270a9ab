// Algorithms of gathers and scatters, between a root and all ranks. Both use the same trees and
// ranges; their messages go in opposite directions.
#include "collective/parts.hpp"

namespace sluice {
namespace {

/// Of a regular call along a binomial tree: a rank that is between others keeps the blocks of its
/// subtree in scratch memory, in the order of the tree's numbers.
class Subtree {
public:
    Subtree(CollectiveBuilder& to, Part const& part)
        : tree_(part.self, part.call.root, part.ranks),
          block_(part.call.block),
          wrap_(part.ranks - part.call.root) {
        if (!part.is_root() && tree_.subtree() > 1) scratch_ = to.scratch(bytes_of(number()));
    }
    [[nodiscard]] BinomialTree const& tree() const noexcept { return tree_; }
    [[nodiscard]] Rank number() const noexcept { return tree_.number(); }
    [[nodiscard]] bool is_leaf() const noexcept { return tree_.subtree() == 1; }
    [[nodiscard]] Bytes block() const noexcept { return block_; }
    [[nodiscard]] Bytes bytes_of(Rank node) const noexcept { return tree_.subtree(node) * block_; }
    /// Where this rank keeps the blocks of a subtree of its own one.
    [[nodiscard]] Place kept(Rank node) const noexcept {
        return scratch_ + (node - number()) * block_;
    }
    /// Between the root and its child `node`: calls `visit(where the root has it, where the child
    /// does, bytes)` for one stretch, or for two where the ranks go on at 0.
    template <class Visit> void for_each_stretch(Rank node, Visit&& visit) const {
        Rank const end = node + tree_.subtree(node);
        Rank const middle = std::clamp(wrap_, node, end);
        auto const stretch = [&](Rank begin, Rank until) {
            if (begin < until) {
                visit(tree_.rank_of(begin) * block_, (begin - node) * block_,
                      (until - begin) * block_);
            }
        };
        stretch(node, middle);
        stretch(middle, end);
    }

private:
    BinomialTree tree_;
    Bytes block_;
    Rank wrap_;  ///< The number of rank 0, or behind all.
    Place scratch_{Memory::scratch, 0};
};

/// Between a rank that is not the root and its parent: calls `move(place here, bytes)`.
template <class Move> void for_each_message_up(Subtree const& all, Place here, Move&& move) {
    if (all.tree().parent() != 0) {
        move(here, all.bytes_of(all.number()));
        return;
    }
    all.for_each_stretch(all.number(),
                         [&](Bytes, Bytes at, Bytes bytes) { move(here + at, bytes); });
}

void gather_up_tree(CollectiveBuilder& to, Part const& part) {
    Subtree const all(to, part);
    BinomialTree const& tree = all.tree();
    if (part.is_root()) {
        tree.for_each_child([&](Rank child) {
            all.for_each_stretch(child, [&](Bytes at, Bytes, Bytes bytes) {
                to.recv(tree.rank_of(child), in_output + at, bytes);
            });
        });
        if (!part.in_place()) to.copy(in_input, in_output + part.self * all.block(), all.block());
        return;
    }
    if (!all.is_leaf()) to.copy(in_input, all.kept(all.number()), all.block());
    tree.for_each_child(
        [&](Rank child) { to.recv(tree.rank_of(child), all.kept(child), all.bytes_of(child)); });
    Place const here = all.is_leaf() ? in_input : all.kept(all.number());
    for_each_message_up(all, here, [&](Place from, Bytes bytes) {
        to.send(tree.rank_of(tree.parent()), from, bytes);
    });
}

void scatter_down_tree(CollectiveBuilder& to, Part const& part) {
    Subtree const all(to, part);
    BinomialTree const& tree = all.tree();
    if (part.is_root()) {
        tree.for_each_child_down([&](Rank child) {
            all.for_each_stretch(child, [&](Bytes at, Bytes, Bytes bytes) {
                to.send(tree.rank_of(child), in_input + at, bytes);
            });
        });
        if (!part.in_place()) to.copy(in_input + part.self * all.block(), in_output, all.block());
        return;
    }
    Place const here = all.is_leaf() ? in_output : all.kept(all.number());
    for_each_message_up(all, here, [&](Place into, Bytes bytes) {
        to.recv(tree.rank_of(tree.parent()), into, bytes);
    });
    tree.for_each_child_down(
        [&](Rank child) { to.send(tree.rank_of(child), all.kept(child), all.bytes_of(child)); });
    if (!all.is_leaf()) to.copy(here, in_output, all.block());
}

void gather_at_once(CollectiveBuilder& to, Part const& part) {
    if (!part.is_root()) {
        to.send(part.call.root, in_input, part.call.block);
        return;
    }
    BlockMap const blocks = part.call.kind == CollectiveKind::gatherv ? BlockMap(part.call.outputs)
                                                                      : BlockMap(part.call.block);
    for (Rank i = 1; i < part.ranks; ++i) {
        Rank const r = part.rank_after(i);
        to.recv(r, in_output + blocks.at(r), blocks.bytes(r));
    }
    if (!part.in_place()) {
        to.copy(in_input, in_output + blocks.at(part.self), blocks.bytes(part.self));
    }
}

void scatter_at_once(CollectiveBuilder& to, Part const& part) {
    if (!part.is_root()) {
        to.recv(part.call.root, in_output, part.call.block);
        return;
    }
    BlockMap const blocks = part.call.kind == CollectiveKind::scatterv ? BlockMap(part.call.inputs)
                                                                       : BlockMap(part.call.block);
    for (Rank i = 1; i < part.ranks; ++i) {
        Rank const r = part.rank_after(i);
        to.send(r, in_input + blocks.at(r), blocks.bytes(r));
    }
    if (!part.in_place()) {
        to.copy(in_input + blocks.at(part.self), in_output, blocks.bytes(part.self));
    }
}

}  // namespace

void add_gather(CollectiveBuilder& to, Part const& part) {
    if (part.algorithm == Algorithm::binomial && part.call.kind == CollectiveKind::gather) {
        gather_up_tree(to, part);
    } else {
        gather_at_once(to, part);
    }
}

void add_scatter(CollectiveBuilder& to, Part const& part) {
    if (part.algorithm == Algorithm::binomial && part.call.kind == CollectiveKind::scatter) {
        scatter_down_tree(to, part);
    } else {
        scatter_at_once(to, part);
    }
}

}  // namespace sluice
