// What the generators of schedules share: one rank's part in a call, where its blocks lie, and the
// tree that doubles. Pure. The generators are in the files named after the kinds.
#pragma once
#include "collective/builder.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

/// One rank's part in a call.
struct Part {
    CollectiveCall const& call;
    Algorithm algorithm;
    Rank self;
    Rank ranks;
    Bytes segment;

    [[nodiscard]] bool is_root() const noexcept { return self == call.root; }
    [[nodiscard]] bool in_place() const noexcept { return is_in_place(call, self); }
    /// The rank `distance` behind this one, about the ring of all ranks; distance > -ranks.
    [[nodiscard]] Rank rank_after(Rank distance) const noexcept {
        return static_cast<Rank>((std::int64_t{self} + distance + ranks) % ranks);
    }
};

/// Where the blocks of a stream lie: positions in it.
class BlockMap {
public:
    explicit BlockMap(Bytes block) noexcept : block_(block) {}
    explicit BlockMap(std::vector<Bytes> const& sizes) : begins_(sizes.size() + 1) {
        std::partial_sum(sizes.begin(), sizes.end(), begins_.begin() + 1);
    }
    /// Where block `i` begins, and where the one before it ends.
    [[nodiscard]] Bytes at(Rank i) const noexcept {
        return begins_.empty() ? i * block_ : begins_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] Bytes bytes(Rank i) const noexcept { return bytes(i, i + 1); }
    [[nodiscard]] Bytes bytes(Rank begin, Rank end) const noexcept { return at(end) - at(begin); }

private:
    Bytes block_ = 0;
    std::vector<Bytes> begins_;  ///< Empty: all blocks have `block_` bytes.
};

/// A binomial tree over the ranks, numbered from its root on: node v is the root of the numbers
/// [v, v + subtree()).
class BinomialTree {
public:
    BinomialTree(Rank self, Rank root, Rank ranks) noexcept
        : root_(root),
          ranks_(ranks),
          number_(self >= root ? self - root : self - root + ranks) {}

    [[nodiscard]] Rank number() const noexcept { return number_; }
    [[nodiscard]] Rank rank_of(Rank number) const noexcept {
        return number < ranks_ - root_ ? number + root_ : number - (ranks_ - root_);
    }
    [[nodiscard]] Rank subtree() const noexcept { return subtree(number_); }
    [[nodiscard]] Rank subtree(Rank number) const noexcept {
        return number == 0 ? ranks_ : std::min(number & -number, ranks_ - number);
    }
    [[nodiscard]] Rank parent() const noexcept { return number_ & (number_ - 1); }

    /// Calls `visit(number)` for the children, small subtrees first.
    template <class Visit> void for_each_child(Visit&& visit) const {
        Rank const all = subtree();
        for (Rank step = 1; step < all; step *= 2) visit(number_ + step);
    }
    /// The same, large subtrees first.
    template <class Visit> void for_each_child_down(Visit&& visit) const {
        Rank const all = subtree();
        Rank step = 1;
        while (step < all) step *= 2;
        while ((step /= 2) > 0) visit(number_ + step);
    }

private:
    Rank root_, ranks_, number_;
};

/// The generators: they add one rank's part to the builder, whatever the number of ranks.
void add_barrier(CollectiveBuilder& to, Part const& part);
void add_bcast(CollectiveBuilder& to, Part const& part);
void add_gather(CollectiveBuilder& to, Part const& part);
void add_scatter(CollectiveBuilder& to, Part const& part);
void add_allgather(CollectiveBuilder& to, Part const& part);
void add_alltoall(CollectiveBuilder& to, Part const& part);
void add_neighbors(CollectiveBuilder& to, Part const& part);

}  // namespace sluice
