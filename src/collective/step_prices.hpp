// The prices of what algorithms are made of, LogGP-like: messages, copies, and common steps of all
// ranks. Ranks are taken to lie on the nodes in blocks. A message has a latency, its `start`, of
// which half keeps the CPU of its sender or receiver busy; so further messages of a rank cost half
// of it. Within a node the receiver moves the bytes; between nodes they queue for the node's link.
#pragma once
#include "collective/algorithm_choice.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

/// Still in the cache when it is combined, or sent on.
inline constexpr Bytes segment_usual = 64 << 10;

class StepPrices {
public:
    explicit StepPrices(CollectiveWorld const& world) noexcept
        : world_(world),
          p_(world.ranks),
          local_(std::max<Rank>(world.most_on_a_node, 1)),
          crowd_(std::max(1.0, static_cast<double>(local_) /
                                   std::max<std::int32_t>(world.cores_a_node, 1))),
          segment_(segment_usual) {}

    [[nodiscard]] bool nodes() const noexcept { return world_.nodes > 1; }
    [[nodiscard]] double within(double bytes) const noexcept {
        return (world_.within.start + world_.within.byte * bytes) * crowd_;
    }
    /// While so many messages of its node leave at once.
    [[nodiscard]] double between(double bytes, double messages) const noexcept {
        return world_.between.start + world_.between.byte * bytes * messages;
    }
    /// One message to the rank at this distance, as in a tree.
    [[nodiscard]] double one(Rank distance, double bytes) const noexcept {
        return nodes() && distance >= local_ ? between(bytes, 1) : within(bytes);
    }
    /// All ranks exchange with the partner at this distance.
    [[nodiscard]] double exchange(Rank distance, double bytes) const noexcept {
        return nodes() && distance >= local_ ? between(bytes, local_) : within(bytes);
    }
    /// All ranks send to the one at this distance behind them.
    [[nodiscard]] double shift(Rank distance, double bytes) const noexcept {
        if (!nodes()) return within(bytes);
        double const crossing = std::min({distance, p_ - distance, local_});
        double const across = between(bytes, crossing);
        return distance < local_ ? std::max(across, within(bytes)) : across;
    }
    [[nodiscard]] double combine(double bytes) const noexcept {
        return bytes * world_.combine_byte * crowd_;
    }
    [[nodiscard]] double copy(double bytes) const noexcept {
        return bytes * world_.copy_byte * crowd_;
    }
    /// One rank has messages of so many bytes under way with `peers` others at once. `moves`: for
    /// how many of them the busiest rank of a node moves the bytes; `users`: so many ranks of each
    /// node do the same, over the node's link; `ways`: 2 where it sends and receives.
    [[nodiscard]] double at_once(double peers, double bytes, double moves, double users,
                                 double ways) const noexcept {
        double const far = nodes() ? peers * (p_ - local_) / (p_ - 1) : 0, near = peers - far;
        double const near_busy = (world_.within.start / 2 * near * ways +
                                  world_.within.byte * bytes * std::min(moves, near)) *
                                 crowd_;
        double const busy = near_busy + world_.between.start / 2 * far * ways;
        double const link = world_.between.byte * bytes * far * users;
        double const first = far > 0 ? world_.between.start : world_.within.start * crowd_;
        return first / 2 + std::max(busy, link) + queue_seconds * peers * (peers - 1) / 2;
    }
    /// As one to all: within a node the others move the bytes, and disturb each other.
    [[nodiscard]] double from_one(double bytes) const noexcept {
        double const readers = std::min<double>(local_, p_) - 1;
        return at_once(p_ - 1, bytes, 1 + std::max(0.0, readers - 1) * disturbance, 1, 1);
    }
    /// As one from all: it moves all bytes.
    [[nodiscard]] double to_one(double bytes) const noexcept {
        return at_once(p_ - 1, bytes, p_ - 1, 1, 1);
    }
    /// All ranks exchange with so many others at once.
    [[nodiscard]] double all_with(double peers, double bytes) const noexcept {
        return at_once(peers, bytes, peers, local_, 2);
    }
    [[nodiscard]] double all_to_all(double bytes) const noexcept { return all_with(p_ - 1, bytes); }
    /// The same of elements that are combined from right to left: where there is no room for all of
    /// them, all ranks wait for the same one.
    [[nodiscard]] double all_combined(double bytes) const noexcept {
        double const sums = combine(bytes) * (p_ - 1) + copy(bytes);
        double const waits = bytes * (p_ - 1) > 2.0 * segment_usual && p_ > 2 ? 2 : 1;
        return (all_to_all(bytes) + sums) * waits;
    }
    /// Sums `step` for distances 1, 2, 4 ... below `end`.
    template <class Step> [[nodiscard]] double doubling(Rank end, Step&& step) const noexcept {
        double sum = 0;
        for (std::int64_t d = 1; d < end; d *= 2) sum += step(static_cast<Rank>(d));
        return sum;
    }
    /// Nobody waits for all others, so links between nodes delay each block, not each step.
    [[nodiscard]] double ring(double bytes) const noexcept {
        double const links = nodes() ? world_.nodes - 1 : 0;
        double const busy =
            nodes() ? std::max(world_.between.start / 2, world_.between.byte * bytes) : 0;
        return (p_ - 1 - links) * std::max(within(bytes), busy) + links * between(bytes, 1);
    }
    /// A message that took so long, of bytes that are combined: between nodes the segments that
    /// came are combined while others are on their way.
    [[nodiscard]] double combined(Rank distance, double message, double bytes) const noexcept {
        if (!nodes() || distance < local_) return message + combine(bytes);
        double const segment = std::min(bytes, static_cast<double>(segment_usual));
        return std::max(message, world_.between.start + combine(bytes)) + combine(segment);
    }
    /// A pipeline through all ranks; each byte costs `byte` seconds more on every rank.
    [[nodiscard]] double chain(double bytes, double byte) noexcept;
    /// Ranks beyond a power of two give what they bring to another one, and get `back`.
    [[nodiscard]] double folding(double bytes, double back) const noexcept {
        if (std::has_single_bit(static_cast<std::uint32_t>(p_))) return 0;
        return within(bytes) + combine(bytes) + (back > 0 ? within(back) : 0);
    }
    [[nodiscard]] double ops(double count) const noexcept { return op_seconds * count * crowd_; }
    [[nodiscard]] double combine_byte() const noexcept { return world_.combine_byte * crowd_; }
    /// Of the last chain.
    [[nodiscard]] Bytes segment() const noexcept { return segment_; }

private:
    /// For each two messages that a rank has under way at once: they are looked for in each other's
    /// company.
    static constexpr double queue_seconds = 1e-8;
    /// To start and to end a copy, whatever its length.
    static constexpr double op_seconds = 5e-8;
    /// What each further rank that reads from the same one at once adds to the time of all.
    static constexpr double disturbance = 0.125;

    CollectiveWorld const& world_;
    Rank p_, local_;
    double crowd_;  ///< Ranks for each core.
    Bytes segment_;
};

}  // namespace sluice
