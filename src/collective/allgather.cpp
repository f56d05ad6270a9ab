// Algorithms that gather blocks on all ranks. All ranks know the sizes of all blocks, so the
// irregular collective is no different.
#include "collective/parts.hpp"

#include <bit>

namespace sluice {
namespace {

class Allgather {
public:
    Allgather(CollectiveBuilder& to, Part const& part)
        : to_(to),
          part_(part),
          blocks_(part.call.kind == CollectiveKind::allgatherv ? BlockMap(part.call.outputs)
                                                               : BlockMap(part.call.block)),
          own_(part.in_place() ? at(part.self) : in_input),
          placed_(part.in_place()) {}

    void all_at_once() {
        for (Rank i = 1; i < part_.ranks; ++i) {
            send(part_.rank_after(i), part_.self, 1);
            recv(part_.rank_after(-i), part_.rank_after(-i), 1);
        }
        place_own();
    }

    /// Each block goes once about the ring.
    void around_ring() {
        for (Rank step = 0; step + 1 < part_.ranks; ++step) {
            send(part_.rank_after(1), part_.rank_after(-step), 1);
            recv(part_.rank_after(-1), part_.rank_after(-step - 1), 1);
        }
        place_own();
    }

    void doubled();
    void rotated();

private:
    [[nodiscard]] Place at(Rank block) const noexcept { return in_output + blocks_.at(block); }
    [[nodiscard]] Bytes own_bytes() const noexcept { return blocks_.bytes(part_.self); }
    void place_own() {
        if (std::exchange(placed_, true)) return;
        to_.copy(own_, at(part_.self), own_bytes());
    }
    /// The own block alone is sent from where it is: that waits for no copy.
    void send(Rank peer, Rank first, Rank count) {
        bool const own = count == 1 && first == part_.self;
        if (!own) place_own();
        to_.send(peer, own ? own_ : at(first), blocks_.bytes(first, first + count));
    }
    void recv(Rank peer, Rank first, Rank count) {
        to_.recv(peer, at(first), blocks_.bytes(first, first + count));
    }

    CollectiveBuilder& to_;
    Part const& part_;
    BlockMap blocks_;
    Place own_;
    bool placed_;  ///< The own block is in the output.
};

/// Twice as many adjacent blocks in each step. Where the ranks are no power of two the first of
/// them do it in pairs: the odd one gives its block to the even one, and gets all in the end.
void Allgather::doubled() {
    auto const actors = static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(part_.ranks)));
    Rank const pairs = part_.ranks - actors;
    auto const first_of = [&](Rank actor) { return actor + std::min(actor, pairs); };
    bool const paired = part_.self < 2 * pairs;
    Rank const actor = paired ? part_.self / 2 : part_.self - pairs;
    if (paired && part_.self % 2 == 1) {
        send(part_.self - 1, part_.self, 1);
        recv(part_.self - 1, 0, part_.self);
        recv(part_.self - 1, part_.self + 1, part_.ranks - part_.self - 1);
        place_own();
        return;
    }
    if (paired) recv(part_.self + 1, part_.self + 1, 1);
    for (Rank step = 1; step < actors; step *= 2) {
        Rank const peer = actor ^ step;
        Rank const mine = actor & -step, theirs = peer & -step;
        Rank const mine_first = first_of(mine), theirs_first = first_of(theirs);
        send(first_of(peer), mine_first, first_of(mine + step) - mine_first);
        recv(first_of(peer), theirs_first, first_of(theirs + step) - theirs_first);
    }
    if (paired) {
        send(part_.self + 1, 0, part_.self + 1);
        send(part_.self + 1, part_.self + 2, part_.ranks - part_.self - 2);
    }
    place_own();
}

/// In scratch memory blocks are in the order of ranks from the own one on, so whatever the number
/// of ranks each step is one message.
void Allgather::rotated() {
    Bytes const all = blocks_.at(part_.ranks), before = blocks_.at(part_.self);
    Place const scratch = to_.scratch(all);
    auto const rotated_at = [&](Rank distance) {
        Rank const r = part_.self + distance;
        return r <= part_.ranks ? blocks_.at(r) - before
                                : blocks_.at(r - part_.ranks) + all - before;
    };
    for (std::int64_t step = 1; step < part_.ranks; step *= 2) {
        auto const distance = static_cast<Rank>(step);
        Rank const count = std::min(distance, part_.ranks - distance);
        to_.send(part_.rank_after(-distance), step == 1 ? own_ : scratch, rotated_at(count));
        to_.recv(part_.rank_after(distance), scratch + rotated_at(distance),
                 rotated_at(distance + count) - rotated_at(distance));
        if (step == 1 && part_.ranks > 2) to_.copy(own_, scratch, own_bytes());
    }
    place_own();
    to_.copy(scratch + own_bytes(), at(part_.self + 1), all - before - own_bytes());
    to_.copy(scratch + (all - before), in_output, before);
}

}  // namespace

void add_allgather(CollectiveBuilder& to, Part const& part) {
    Allgather allgather(to, part);
    switch (part.algorithm) {
    case Algorithm::linear:
        return allgather.all_at_once();
    case Algorithm::recursive_doubling:
        return allgather.doubled();
    case Algorithm::bruck:
        return allgather.rotated();
    default:
        return allgather.around_ring();
    }
}

}  // namespace sluice
