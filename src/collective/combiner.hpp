// What the schedules of reductions share: how elements that come from another rank are combined
// with those that are here, in the order of ranks where the operation asks for it, and with as few
// copies as the order allows. Pure. A *base* is where position 0 of all elements would lie, in a
// memory that may hold only some of them.
#pragma once
#include "collective/parts.hpp"

#include <bit>

namespace sluice {

/// Positions in the stream of all elements.
using Stretch = Span;

/// Which orders of the operands are allowed.
enum class Order : std::uint8_t { any, of_ranks };

/// Elements of several ranks, combined: of ranks that follow each other, or of any where the
/// operation is commutative.
struct Partial {
    Place base;
    bool writable = false;  ///< Else it is what the program brought, which stays as it is.
};

class Combiner {
public:
    /// `blocks`: how all elements are divided among ranks.
    Combiner(CollectiveBuilder& to, Part const& part, BlockMap blocks);

    [[nodiscard]] Partial own() const noexcept { return own_; }
    [[nodiscard]] Stretch all() const noexcept { return {0, blocks_.at(part_.ranks)}; }
    [[nodiscard]] Stretch block(Rank begin, Rank end) const noexcept {
        return {blocks_.at(begin), blocks_.at(end)};
    }
    [[nodiscard]] Stretch block(Rank rank) const noexcept { return block(rank, rank + 1); }
    [[nodiscard]] Part const& part() const noexcept { return part_; }
    [[nodiscard]] Order order() const noexcept {
        return part_.call.commutative ? Order::any : Order::of_ranks;
    }
    /// Elements divided evenly, as far as whole ones can be.
    [[nodiscard]] BlockMap divided(Rank parts) const;

    /// After `after`; returns its last op.
    CollectiveBuilder::Id send(Rank to, Place base, Stretch what,
                               CollectiveBuilder::Id after = CollectiveBuilder::nothing);
    void recv(Rank from, Place base, Stretch what);
    void copy(Place from, Place base, Stretch what);
    /// The elements at `base` become those at `left` combined with them.
    void reduce(Place left, Place base, Stretch what);
    /// Receives elements and combines them, as left operands, with those at `base`.
    void recv_left(Rank from, Place base, Stretch what);
    /// The same for one segment, received to `left`.
    void recv_left(Rank from, Place left, Place base, Stretch segment);
    /// Receives elements to `base` and combines `left` with them.
    void recv_right(Rank from, Place left, Place base, Stretch what);

    /// Memory for these positions: its base.
    [[nodiscard]] Place scratch(Stretch what) noexcept;
    /// The same for a segment, for a short time: memory that earlier segments had, where many are
    /// under way.
    [[nodiscard]] Place slot(Stretch what);
    /// In pieces of at most the segment that the call asked for.
    template <class Visit> void for_each_segment(Stretch what, Visit&& visit) const {
        for (Bytes at = what.begin; at < what.end; at += segment_) {
            visit(Stretch{at, std::min(at + segment_, what.end)});
        }
    }

private:
    struct Slot {
        Place place;
        Bytes bytes = 0;
    };
    using Ids = CollectiveBuilder::Ids;
    /// Of whole segments only a few are under way at once.
    [[nodiscard]] Ids throttle(Ids const& latest, Stretch what) const;
    void remember(Ids& latest, Stretch what, CollectiveBuilder::Id id) const;

    CollectiveBuilder& to_;
    Part const& part_;
    BlockMap blocks_;
    Partial own_;
    Bytes element_, segment_;
    std::vector<Slot> slots_;
    Bytes slots_bytes_ = 0;
    std::size_t next_slot_ = 0;
    Ids sent_, combined_;  ///< The latest whole segments.
};

/// Whose elements a rank takes in a step, and whether they are the left operands.
struct Taken {
    Rank from = 0;
    bool lower = false;
};

/// A partial result that grows from the own elements on. It has two places to be in: where the left
/// operands are here, what comes must take them up; so it moves. It goes where the last step leaves
/// it at `home`, if it can.
class Accumulator {
public:
    /// `steps`: all that will be taken. `home`: a base in writable memory, or nothing: in scratch
    /// memory.
    Accumulator(Combiner& combiner, std::vector<Taken> const& steps, Place home, Order order);

    void send(Rank to, Stretch what) { combiner_.send(to, now_.base, what); }
    /// From now on only `what` counts. `what` is inside of what counted before.
    void take(Taken const& step, Stretch what);
    /// The same, with the result at `base`; for commutative operations.
    void take_to(Place base, Taken const& step, Stretch what);
    /// The elements are at home after this.
    void settle(Stretch what);
    [[nodiscard]] Place base() const noexcept { return now_.base; }

private:
    [[nodiscard]] bool moves(Taken const& step) const noexcept;
    [[nodiscard]] Place other(Stretch what);

    Combiner& combiner_;
    Order order_;
    Partial now_;
    Place places_[2];  ///< The first is home. Memory::none: not asked for yet.
    int free_ = 0;     ///< Which of them it moves to next.
};

/// The elements of several ranks, taken one after the other: the leftmost last.
class RightToLeft {
public:
    RightToLeft(Combiner& combiner, Place base, Stretch what)
        : combiner_(combiner),
          base_(base),
          what_(what) {}
    /// The rank's, or the own ones.
    void add(Rank rank);
    [[nodiscard]] bool empty() const noexcept { return empty_; }
    [[nodiscard]] Place base() const noexcept { return base_; }

private:
    Combiner& combiner_;
    Place base_;
    Stretch what_;
    bool empty_ = true;
};

/// The power of two of ranks that halve and double; others have one of them act for them.
class Actors {
public:
    /// Of a pair the odd rank acts, or `first`.
    Actors(Rank ranks, Rank first = -1) noexcept
        : count_(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks)))),
          pairs_(ranks - count_),
          first_(first) {}
    [[nodiscard]] Rank count() const noexcept { return count_; }
    [[nodiscard]] Rank rank_of(Rank actor) const noexcept {
        if (actor >= pairs_) return actor + pairs_;
        return 2 * actor == first_ ? first_ : 2 * actor + 1;
    }
    /// The actor that acts for this rank.
    [[nodiscard]] Rank actor_for(Rank rank) const noexcept {
        return is_paired(rank) ? rank / 2 : rank - pairs_;
    }
    [[nodiscard]] bool is_paired(Rank rank) const noexcept { return rank < 2 * pairs_; }
    [[nodiscard]] bool acts(Rank rank) const noexcept { return rank_of(actor_for(rank)) == rank; }
    /// The first rank for which this actor acts; of `count()`: the number of ranks.
    [[nodiscard]] Rank begin(Rank actor) const noexcept { return actor + std::min(actor, pairs_); }

private:
    Rank count_, pairs_, first_;
};

/// The generators, each for the kinds that the algorithm serves.
void add_doubling(Combiner& combiner);
void add_halving(Combiner& combiner);
void add_linear_reduction(Combiner& combiner);
void add_pairwise_reduction(Combiner& combiner);
void add_ring_reduction(Combiner& combiner, BlockMap const& blocks);
void add_binomial_reduction(Combiner& combiner);
void add_chain_reduction(Combiner& combiner);
void add_doubling_scan(Combiner& combiner);
void add_chain_scan(Combiner& combiner);

}  // namespace sluice
