// Algorithms of broadcasts, from the root's output to that of all other ranks.
#include "collective/parts.hpp"

namespace sluice {
namespace {

void send_to_all(CollectiveBuilder& to, Part const& part) {
    if (!part.is_root()) {
        to.recv(part.call.root, in_output, part.call.block);
        return;
    }
    for (Rank r = 1; r < part.ranks; ++r) {
        to.send(part.rank_after(r), in_output, part.call.block);
    }
}

void send_down_tree(CollectiveBuilder& to, Part const& part) {
    BinomialTree const tree(part.self, part.call.root, part.ranks);
    if (!part.is_root()) to.recv(tree.rank_of(tree.parent()), in_output, part.call.block);
    tree.for_each_child_down(
        [&](Rank child) { to.send(tree.rank_of(child), in_output, part.call.block); });
}

void send_along_chain(CollectiveBuilder& to, Part const& part) {
    bool const is_last = part.rank_after(1) == part.call.root;
    Bytes const segment = std::max<Bytes>(part.segment, 1);
    for (Bytes at = 0; at < part.call.block; at += segment) {
        Bytes const bytes = std::min(segment, part.call.block - at);
        if (!part.is_root()) to.recv(part.rank_after(-1), in_output + at, bytes);
        if (!is_last) to.send(part.rank_after(1), in_output + at, bytes);
    }
}

/// A share for each rank, numbered from the root on.
class Shares {
public:
    Shares(Bytes bytes, Rank count) noexcept : bytes_(bytes), share_((bytes + count - 1) / count) {}
    [[nodiscard]] Bytes at(Rank i) const noexcept { return std::min(bytes_, i * share_); }
    [[nodiscard]] Bytes bytes(Rank begin, Rank end) const noexcept { return at(end) - at(begin); }

private:
    Bytes bytes_, share_;
};

/// Down a tree each rank gets the shares of its subtree; those that it lacks then come around the
/// ring of ranks, which the root closes: it needs nothing.
void scatter_then_gather(CollectiveBuilder& to, Part const& part) {
    BinomialTree const tree(part.self, part.call.root, part.ranks);
    Shares const shares(part.call.block, part.ranks);
    Rank const self = tree.number(), next = self + 1;
    auto const place = [&](Rank share) { return in_output + shares.at(share); };
    if (self > 0) {
        to.recv(tree.rank_of(tree.parent()), place(self),
                shares.bytes(self, self + tree.subtree()));
    }
    tree.for_each_child_down([&](Rank child) {
        to.send(tree.rank_of(child), place(child),
                shares.bytes(child, child + tree.subtree(child)));
    });
    auto const lacks = [&](Rank number, Rank share) {
        return number < part.ranks && (share < number || share >= number + tree.subtree(number));
    };
    for (Rank step = 0; step + 1 < part.ranks; ++step) {
        Rank const sent = (self - step + part.ranks) % part.ranks;
        Rank const got = (sent - 1 + part.ranks) % part.ranks;
        if (lacks(next, sent)) {
            to.send(tree.rank_of(next), place(sent), shares.bytes(sent, sent + 1));
        }
        if (lacks(self, got)) {
            to.recv(tree.rank_of(self - 1), place(got), shares.bytes(got, got + 1));
        }
    }
}

}  // namespace

void add_bcast(CollectiveBuilder& to, Part const& part) {
    switch (part.algorithm) {
    case Algorithm::linear:
        return send_to_all(to, part);
    case Algorithm::chain:
        return send_along_chain(to, part);
    case Algorithm::scatter_allgather:
        return scatter_then_gather(to, part);
    default:
        return send_down_tree(to, part);
    }
}

}  // namespace sluice
