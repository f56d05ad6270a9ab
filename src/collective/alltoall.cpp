// Algorithms that bring a block from each rank to each. In place, a block lies where another one is
// received, so it is set aside until it has been sent.
#include "collective/parts.hpp"

namespace sluice {
namespace {

/// Pairs that exchange at a time, of one rank: enough that none waits for the slowest.
constexpr Rank pairs_under_way = 4;

class Alltoall {
public:
    Alltoall(CollectiveBuilder& to, Part const& part)
        : to_(to),
          part_(part),
          in_place_(part.in_place()),
          targets_(part.call.kind == CollectiveKind::alltoallv ? BlockMap(part.call.outputs)
                                                               : BlockMap(part.call.block)),
          sources_(part.call.kind == CollectiveKind::alltoallv && !in_place_
                       ? BlockMap(part.call.inputs)
                       : targets_) {}

    void all_at_once() {
        for (Rank i = 1; i < part_.ranks; ++i) {
            Rank const to = part_.rank_after(i), from = part_.rank_after(-i);
            if (in_place_) {
                exchange(to, to_.scratch(sources_.bytes(to)), {});
            } else {
                to_.send(to, source(to), sources_.bytes(to));
                to_.recv(from, target(from), targets_.bytes(from));
            }
        }
        place_own();
    }

    void pair_by_pair();
    void through_others();

private:
    using Ids = CollectiveBuilder::Ids;

    [[nodiscard]] Place source(Rank r) const noexcept {
        return (in_place_ ? in_output : in_input) + sources_.at(r);
    }
    [[nodiscard]] Place target(Rank r) const noexcept { return in_output + targets_.at(r); }
    void place_own() {
        if (!in_place_) to_.copy(source(part_.self), target(part_.self), own_bytes());
    }
    [[nodiscard]] Bytes own_bytes() const noexcept { return targets_.bytes(part_.self); }
    /// With a partner; in place from `aside`. Never receives over a block that has yet to be sent.
    Ids exchange(Rank peer, Place aside, Ids const& after) {
        Bytes const bytes = sources_.bytes(peer);
        if (in_place_) to_.copy(source(peer), aside, bytes, after);
        auto const sent = to_.send(peer, in_place_ ? aside : source(peer), bytes, after);
        return {sent, to_.recv(peer, target(peer), targets_.bytes(peer), after)};
    }
    [[nodiscard]] Bytes longest_source() const noexcept {
        Bytes longest = 0;
        for (Rank r = 0; r < part_.ranks; ++r) longest = std::max(longest, sources_.bytes(r));
        return longest;
    }
    struct Stretch {
        Place place;
        Bytes bytes;
        [[nodiscard]] Place end() const noexcept { return place + bytes; }
    };
    void send_packed(Rank distance, std::vector<Place>& blocks);
    [[nodiscard]] Place together(std::vector<Stretch> const& stretches, Bytes bytes);

    CollectiveBuilder& to_;
    Part const& part_;
    bool in_place_;
    BlockMap targets_, sources_;
};

/// In each step a rank has one partner: theirs are the ranks whose numbers add up to the step's,
/// about the ring.
void Alltoall::pair_by_pair() {
    Bytes const aside_bytes = in_place_ ? longest_source() : 0;
    Place const aside = to_.scratch(pairs_under_way * aside_bytes);
    std::vector<Ids> exchanges;
    for (Rank step = 0; step < part_.ranks; ++step) {
        Rank const peer = step >= part_.self ? step - part_.self : step - part_.self + part_.ranks;
        if (peer == part_.self) continue;
        auto const n = std::ssize(exchanges);
        Ids const after = n < pairs_under_way ? Ids{} : *(exchanges.end() - pairs_under_way);
        exchanges.push_back(exchange(peer, aside + n % pairs_under_way * aside_bytes, after));
    }
    place_own();
}

/// Regular blocks in log P messages: one with the distance d to its target goes by the powers of
/// two that d is made of. `blocks[d]`: where the block is now that has to go, or came, so far.
void Alltoall::through_others() {
    Bytes const block = part_.call.block;
    std::vector<Place> blocks;
    for (Rank d = 0; d < part_.ranks; ++d) blocks.push_back(source(part_.rank_after(d)));
    for (std::int64_t step = 1; step < part_.ranks; step *= 2) {
        send_packed(static_cast<Rank>(step), blocks);
    }
    place_own();
    for (Rank d = 1; d < part_.ranks; ++d) {
        to_.copy(blocks[static_cast<std::size_t>(d)], target(part_.rank_after(-d)), block);
    }
}

/// One step: all blocks whose distance contains this power of two.
void Alltoall::send_packed(Rank distance, std::vector<Place>& blocks) {
    Bytes const block = part_.call.block;
    std::vector<Stretch> stretches;
    Bytes bytes = 0;
    for (Rank d = distance; d < part_.ranks; d = (d + 1) | distance) {
        Place const place = blocks[static_cast<std::size_t>(d)];
        if (stretches.empty() || stretches.back().end() != place) stretches.push_back({place, 0});
        stretches.back().bytes += block;
        bytes += block;
    }
    Place const came = to_.scratch(bytes);
    to_.send(part_.rank_after(distance), together(stretches, bytes), bytes);
    to_.recv(part_.rank_after(-distance), came, bytes);
    bytes = 0;
    for (Rank d = distance; d < part_.ranks; d = (d + 1) | distance, bytes += block) {
        blocks[static_cast<std::size_t>(d)] = came + bytes;
    }
}

/// Where these bytes lie as one: where they are, or packed.
Place Alltoall::together(std::vector<Stretch> const& stretches, Bytes bytes) {
    if (stretches.size() == 1) return stretches.front().place;
    Place const packed = to_.scratch(bytes);
    Place next = packed;
    for (Stretch const& stretch : stretches) {
        to_.copy(stretch.place, next, stretch.bytes);
        next = next + stretch.bytes;
    }
    return packed;
}

}  // namespace

void add_alltoall(CollectiveBuilder& to, Part const& part) {
    Alltoall alltoall(to, part);
    switch (part.algorithm) {
    case Algorithm::pairwise:
        return alltoall.pair_by_pair();
    case Algorithm::bruck:
        if (part.call.kind == CollectiveKind::alltoall) return alltoall.through_others();
        [[fallthrough]];
    default:
        return alltoall.all_at_once();
    }
}

}  // namespace sluice
