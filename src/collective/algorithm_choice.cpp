// The price of each algorithm, LogGP-like: what the rank pays that is done last. Ranks are taken to
// lie on the nodes in blocks. A message has a latency, its `start`, of which half keeps the CPU of
// its sender or receiver busy; so further messages of a rank cost half of it. Within a node the
// receiver moves the bytes; between nodes they queue for the node's link.
#include "collective/algorithm_choice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace sluice {
namespace {

/// For each two messages that a rank has under way at once: they are looked for in each other's
/// company.
constexpr double queue_seconds = 1e-8;
/// To start and to end a copy, whatever its length.
constexpr double op_seconds = 5e-8;
constexpr Bytes segment_least = 8 << 10, segment_most = 1 << 20;
/// Still in the cache when it is combined, or sent on.
constexpr Bytes segment_usual = 64 << 10;
/// What each further rank that reads from the same one at once adds to the time of all.
constexpr double disturbance = 0.125;
/// What irregular calls are taken to bring, whose sizes nobody knows.
constexpr Bytes block_usual = 4 << 10;

Rank floor_of_two(Rank ranks) noexcept {
    return static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks)));
}

/// What all ranks know of the sizes.
struct Sizes {
    double block;  ///< Of the largest, where ranks have different ones.
    double all;    ///< Elements of a reduction, blocks of a gather or an exchange.
};

Sizes sizes_of(CollectiveCall const& call, Rank ranks) noexcept {
    double const p = ranks;
    switch (call.kind) {
    case CollectiveKind::barrier:
        return {0, 0};
    case CollectiveKind::allgatherv:
    case CollectiveKind::reduce_scatter: {
        Bytes all = 0, most = 0;
        for (Bytes const bytes : call.outputs) all += bytes, most = std::max(most, bytes);
        return {static_cast<double>(most), static_cast<double>(all)};
    }
    case CollectiveKind::gatherv:
    case CollectiveKind::scatterv:
    case CollectiveKind::alltoallv:
    case CollectiveKind::neighbor_allgatherv:
    case CollectiveKind::neighbor_alltoallv:
        return {static_cast<double>(block_usual), static_cast<double>(block_usual) * p};
    case CollectiveKind::bcast:
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce:
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
        return {static_cast<double>(call.block) / p, static_cast<double>(call.block)};
    default:
        return {static_cast<double>(call.block), static_cast<double>(call.block) * p};
    }
}

class Price {
public:
    Price(CollectiveCall const& call, CollectiveWorld const& world) noexcept
        : call_(call),
          world_(world),
          sizes_(sizes_of(call, world.ranks)),
          p_(world.ranks),
          local_(std::max<Rank>(world.most_on_a_node, 1)),
          crowd_(std::max(1.0, static_cast<double>(local_) /
                                   std::max<std::int32_t>(world.cores_a_node, 1))),
          segment_(segment_usual) {}

    [[nodiscard]] double seconds(Algorithm algorithm) noexcept;
    [[nodiscard]] Bytes segment() const noexcept { return segment_; }

private:
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
    [[nodiscard]] double all_to_all(double bytes) const noexcept {
        return at_once(p_ - 1, bytes, p_ - 1, local_, 2);
    }
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

    [[nodiscard]] double barrier(Algorithm algorithm) const noexcept;
    [[nodiscard]] double bcast(Algorithm algorithm) noexcept;
    [[nodiscard]] double rooted(Algorithm algorithm) const noexcept;
    [[nodiscard]] double allgather(Algorithm algorithm) const noexcept;
    [[nodiscard]] double alltoall(Algorithm algorithm) const noexcept;
    [[nodiscard]] double reduce(Algorithm algorithm) noexcept;
    [[nodiscard]] double allreduce(Algorithm algorithm) const noexcept;
    [[nodiscard]] double reduce_scatter(Algorithm algorithm) const noexcept;
    [[nodiscard]] double scan(Algorithm algorithm) noexcept;

    CollectiveCall const& call_;
    CollectiveWorld const& world_;
    Sizes sizes_;
    Rank p_, local_;
    double crowd_;  ///< Ranks for each core.
    Bytes segment_;
};

/// The best segment is where the pipeline's filling costs as much as what each segment costs
/// whatever its length: s^2 = bytes * start / (byte * (ranks - 2)).
double Price::chain(double bytes, double byte) noexcept {
    double const start = nodes() ? world_.between.start : world_.within.start * crowd_;
    double const each = (nodes() ? std::max(world_.between.byte, world_.within.byte * crowd_)
                                 : world_.within.byte * crowd_) +
                        byte;
    double const best = std::sqrt(bytes * start / (each * std::max(p_ - 2, 1)));
    auto const bounded = std::clamp(static_cast<Bytes>(best), segment_least, segment_most);
    segment_ = static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(bounded)));
    double const segment = std::min(bytes, static_cast<double>(segment_));
    double const local_hop = within(segment) + byte * segment;
    double const hop =
        nodes() ? std::max(local_hop, between(segment, 1) + byte * segment) : local_hop;
    double const filling = (p_ - world_.nodes) * local_hop + (world_.nodes - 1) * hop;
    double const segments = segment > 0 ? std::ceil(bytes / segment) : 1;
    return filling + (segments - 1) * std::max(hop - start / 2, each * segment);
}

double Price::barrier(Algorithm algorithm) const noexcept {
    if (algorithm == Algorithm::linear) return from_one(0) + to_one(0);
    double const steps = doubling(p_, [&](Rank d) { return shift(d, 0); });
    return algorithm == Algorithm::binomial ? 2 * steps : steps;
}

double Price::bcast(Algorithm algorithm) noexcept {
    double const n = sizes_.all;
    switch (algorithm) {
    case Algorithm::linear:
        return from_one(n);
    case Algorithm::chain:
        return chain(n, 0);
    case Algorithm::scatter_allgather:
        return doubling(p_, [&](Rank d) { return one(d, n * d / p_); }) + ring(n / p_);
    default:
        return doubling(p_, [&](Rank d) { return one(d, n); });
    }
}

/// Gathers and scatters. Within a node who gets bytes moves them: one rank, or all at once.
double Price::rooted(Algorithm algorithm) const noexcept {
    double const n = sizes_.block;
    bool const gathers =
        call_.kind == CollectiveKind::gather || call_.kind == CollectiveKind::gatherv;
    if (algorithm == Algorithm::binomial) {
        // Bytes that are passed on delay nobody, but take some of the memory's bandwidth.
        return doubling(p_, [&](Rank d) { return one(d, n * std::min(d, p_ - d)); }) +
               copy(n) * (p_ - 1) / 4;
    }
    return gathers ? to_one(n) : from_one(n);
}

double Price::allgather(Algorithm algorithm) const noexcept {
    double const n = sizes_.block;
    switch (algorithm) {
    case Algorithm::linear:
        return all_to_all(n) + copy(n);
    case Algorithm::ring:
        return ring(n) + copy(n);
    case Algorithm::bruck:
        return doubling(p_, [&](Rank d) { return shift(d, n * std::min(d, p_ - d)); }) +
               copy(2 * sizes_.all);
    default: {
        bool const folds = !std::has_single_bit(static_cast<std::uint32_t>(p_));
        return doubling(floor_of_two(p_), [&](Rank d) { return exchange(d, n * d); }) + copy(n) +
               (folds ? within(n) + within(sizes_.all) : 0);
    }
    }
}

double Price::alltoall(Algorithm algorithm) const noexcept {
    double const n = sizes_.block;
    switch (algorithm) {
    case Algorithm::bruck:
        return doubling(p_, [&](Rank d) { return shift(d, n * p_ / 2); }) +
               copy(n * p_ * (2 + 0.5 * std::log2(p_))) + op_seconds * p_ * crowd_;
    case Algorithm::pairwise: {  // A few pairs at a time.
        double const pairs = std::min<double>(p_ - 1, 4);
        return at_once(pairs, n, pairs, local_, 2) * (p_ - 1) / pairs + copy(n);
    }
    default:
        return all_to_all(n) + copy(n);
    }
}

double Price::reduce(Algorithm algorithm) noexcept {
    double const n = sizes_.all;
    double const to_root = !call_.commutative && call_.root != 0 ? one(p_ - 1, n) : 0;
    switch (algorithm) {
    case Algorithm::linear:
        return to_one(n) + combine(n) * (p_ - 1);
    case Algorithm::chain:
        return chain(n, world_.combine_byte * crowd_) +
               (to_root > 0 ? one(p_ - 1, static_cast<double>(segment_)) : 0);
    case Algorithm::rabenseifner:
        return folding(n, 0) + doubling(floor_of_two(p_), [&](Rank d) {
                   double const half = n / (2.0 * d);
                   return combined(d, exchange(d, half), half) + one(d, half);
               });
    default:
        return doubling(p_, [&](Rank d) { return combined(d, one(d, n), n); }) + to_root;
    }
}

double Price::allreduce(Algorithm algorithm) const noexcept {
    double const n = sizes_.all;
    switch (algorithm) {
    case Algorithm::linear:
        return all_combined(n);
    case Algorithm::ring:
        return 2 * ring(n / p_) + combine(n / p_) * (p_ - 1);
    case Algorithm::rabenseifner:
        return folding(n, n) + doubling(floor_of_two(p_), [&](Rank d) {
                   double const half = n / (2.0 * d);
                   return exchange(d, half) + combined(d, exchange(d, half), half);
               });
    default:
        return folding(n, n) + copy(n) +
               doubling(floor_of_two(p_), [&](Rank d) { return combined(d, exchange(d, n), n); });
    }
}

double Price::reduce_scatter(Algorithm algorithm) const noexcept {
    double const n = sizes_.block, all = sizes_.all;
    Rank const actors = floor_of_two(p_);
    switch (algorithm) {
    case Algorithm::linear:
        return all_combined(n);
    case Algorithm::pairwise:
        return (at_once(1, n, 1, local_, 2) + combine(n)) * (p_ - 1);
    case Algorithm::ring:
        return ring(n) + combine(n) * (p_ - 1);
    case Algorithm::recursive_doubling:
        return folding(all, n) + copy(n) +
               doubling(actors, [&](Rank d) { return combined(d, exchange(d, all), all); });
    default:
        return folding(all, n) + doubling(actors, [&](Rank d) {
                   double const part = all * d / actors;
                   return combined(d, exchange(d, part), part);
               });
    }
}

double Price::scan(Algorithm algorithm) noexcept {
    double const n = sizes_.all;
    // Of exscan: the result and what goes on, but for the first and the last step.
    double const steps = std::ceil(std::log2(p_));
    double const sums = call_.kind == CollectiveKind::exscan ? 2 * steps - 2 : steps;
    switch (algorithm) {
    case Algorithm::linear:
        return all_combined(n);
    case Algorithm::chain:
        return chain(n, world_.combine_byte * crowd_) + copy(n);
    default:
        return doubling(p_, [&](Rank d) { return shift(d, n); }) + sums * combine(n);
    }
}

double Price::seconds(Algorithm algorithm) noexcept {
    switch (call_.kind) {
    case CollectiveKind::barrier:
        return barrier(algorithm);
    case CollectiveKind::bcast:
        return bcast(algorithm);
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
        return rooted(algorithm);
    case CollectiveKind::allgather:
    case CollectiveKind::allgatherv:
        return allgather(algorithm);
    case CollectiveKind::reduce:
        return reduce(algorithm);
    case CollectiveKind::allreduce:
        return allreduce(algorithm);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce_scatter_block:
        return reduce_scatter(algorithm);
    case CollectiveKind::scan:
    case CollectiveKind::exscan:
        return scan(algorithm);
    default:  // Neighbourhoods too: nobody knows how many neighbours others have.
        return alltoall(algorithm);
    }
}

}  // namespace

double collective_seconds(CollectiveCall const& call, Algorithm algorithm,
                          CollectiveWorld const& world) {
    return world.ranks > 1 ? Price(call, world).seconds(algorithm) : 0;
}

CollectiveChoice choose_collective(CollectiveCall const& call, CollectiveWorld const& world) {
    auto const algorithms = algorithms_of(call, world.ranks);
    CollectiveChoice best{algorithms.front(), segment_usual, 0};
    if (world.ranks == 1) return best;
    bool is_first = true;
    for (Algorithm const algorithm : algorithms) {
        Price price(call, world);
        double const seconds = price.seconds(algorithm);
        if (!is_first && seconds >= best.seconds) continue;
        best = {algorithm, price.segment(), seconds};
        is_first = false;
    }
    return best;
}

}  // namespace sluice
