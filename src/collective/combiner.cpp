// How elements are combined with as few copies as the order of ranks allows. See combiner.hpp.
#include "collective/combiner.hpp"

namespace sluice {
namespace {

/// How many segments of one rank are under way: one comes while another one is combined. With more
/// of them all would come first: then none is in the cache, or on its way to the next rank.
constexpr std::size_t depth = 2;

Partial own_of(Part const& part) noexcept {
    if (!part.in_place()) return {in_input, false};
    // Of a scattered result the output has a part only: what else is in it stays as it is.
    bool const scatters = part.call.kind == CollectiveKind::reduce_scatter ||
                          part.call.kind == CollectiveKind::reduce_scatter_block;
    return {in_output, !scatters};
}

}  // namespace

// ---- Combiner ---------------------------------------------------------------------------------

Combiner::Combiner(CollectiveBuilder& to, Part const& part, BlockMap blocks)
    : to_(to),
      part_(part),
      blocks_(std::move(blocks)),
      own_(own_of(part)),
      element_(std::max<Bytes>(part.call.element, 1)),
      segment_(std::max<Bytes>(part.segment / element_, 1) * element_) {}

BlockMap Combiner::divided(Rank parts) const {
    Bytes const count = all().bytes() / element_;
    std::vector<Bytes> sizes;
    for (Rank i = 0; i < parts; ++i) {
        sizes.push_back((count / parts + (i < count % parts ? 1 : 0)) * element_);
    }
    return BlockMap(sizes);
}

CollectiveBuilder::Ids Combiner::throttle(Ids const& latest, Stretch what) const {
    if (what.bytes() < segment_ || latest.size() < depth) return {};
    return {latest.front()};
}

void Combiner::remember(Ids& latest, Stretch what, CollectiveBuilder::Id id) const {
    if (what.bytes() < segment_) return;
    if (latest.size() == depth) latest.erase(latest.begin());
    latest.push_back(id);
}

CollectiveBuilder::Id Combiner::send(Rank to, Place base, Stretch what,
                                     CollectiveBuilder::Id after) {
    auto last = after;
    for_each_segment(what, [&](Stretch part) {
        Ids wanted = throttle(sent_, part);
        wanted.push_back(after);
        last = to_.send(to, base + part.begin, part.bytes(), std::move(wanted));
        remember(sent_, part, last);
    });
    return last;
}

void Combiner::recv(Rank from, Place base, Stretch what) {
    for_each_segment(what, [&](Stretch part) { to_.recv(from, base + part.begin, part.bytes()); });
}

void Combiner::copy(Place from, Place base, Stretch what) {
    if (!(from == base)) to_.copy(from + what.begin, base + what.begin, what.bytes());
}

void Combiner::reduce(Place left, Place base, Stretch what) {
    to_.reduce(left + what.begin, base + what.begin, what.bytes());
}

void Combiner::recv_left(Rank from, Place base, Stretch what) {
    for_each_segment(what, [&](Stretch part) { recv_left(from, slot(part), base, part); });
}

void Combiner::recv_left(Rank from, Place left, Place base, Stretch segment) {
    to_.recv(from, left + segment.begin, segment.bytes(), throttle(combined_, segment));
    remember(combined_, segment,
             to_.reduce(left + segment.begin, base + segment.begin, segment.bytes()));
}

void Combiner::recv_right(Rank from, Place left, Place base, Stretch what) {
    for_each_segment(what, [&](Stretch part) {
        to_.recv(from, base + part.begin, part.bytes(), throttle(combined_, part));
        remember(combined_, part, to_.reduce(left + part.begin, base + part.begin, part.bytes()));
    });
}

Place Combiner::scratch(Stretch what) noexcept { return to_.scratch(what.bytes()) + -what.begin; }

Place Combiner::slot(Stretch what) {
    if (slots_bytes_ + what.bytes() > static_cast<Bytes>(depth) * segment_) {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            Slot const& next = slots_[next_slot_++ % slots_.size()];
            if (next.bytes >= what.bytes()) return next.place + -what.begin;
        }
    }
    slots_.push_back({to_.scratch(what.bytes()), what.bytes()});
    slots_bytes_ += what.bytes();
    return slots_.back().place + -what.begin;
}

// ---- Accumulator ------------------------------------------------------------------------------

Accumulator::Accumulator(Combiner& combiner, std::vector<Taken> const& steps, Place home,
                         Order order)
    : combiner_(combiner),
      order_(order),
      now_(combiner.own()),
      places_{home, {}} {
    if (now_.writable) {
        free_ = 1;
        return;
    }
    // The first step brings it to a place of our choice.
    for (std::size_t i = 1; i < steps.size() && order == Order::of_ranks; ++i) {
        if (!steps[i].lower) free_ = 1 - free_;
    }
}

bool Accumulator::moves(Taken const& step) const noexcept {
    return order_ == Order::any ? !now_.writable : !step.lower;
}

Place Accumulator::other(Stretch what) {
    Place& place = places_[free_];
    if (place.memory == Memory::none) place = combiner_.scratch(what);
    free_ = 1 - free_;
    return place;
}

void Accumulator::take(Taken const& step, Stretch what) {
    if (moves(step)) return take_to(other(what), step, what);
    if (!now_.writable) {
        Place const base = other(what);
        combiner_.copy(now_.base, base, what);
        now_ = {base, true};
    }
    combiner_.recv_left(step.from, now_.base, what);
}

void Accumulator::take_to(Place base, Taken const& step, Stretch what) {
    combiner_.recv_right(step.from, now_.base, base, what);
    now_ = {base, true};
}

void Accumulator::settle(Stretch what) {
    combiner_.copy(now_.base, places_[0], what);
    now_ = {places_[0], true};
}

// ---- RightToLeft ------------------------------------------------------------------------------

void RightToLeft::add(Rank rank) {
    bool const is_first = std::exchange(empty_, false);
    if (rank == combiner_.part().self) {
        Place const own = combiner_.own().base;
        return is_first ? combiner_.copy(own, base_, what_) : combiner_.reduce(own, base_, what_);
    }
    is_first ? combiner_.recv(rank, base_, what_) : combiner_.recv_left(rank, base_, what_);
}

}  // namespace sluice
