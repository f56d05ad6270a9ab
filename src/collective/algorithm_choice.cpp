// The price of each algorithm: what the rank pays that is done last. It is made up of the prices of
// steps. See step_prices.hpp.
#include "collective/algorithm_choice.hpp"

#include "collective/step_prices.hpp"

#include <cmath>
#include <numeric>

namespace sluice {
namespace {

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

/// Of the algorithms of one call.
class Price : private StepPrices {
public:
    Price(CollectiveCall const& call, CollectiveWorld const& world) noexcept
        : StepPrices(world),
          call_(call),
          sizes_(sizes_of(call, world.ranks)),
          p_(world.ranks) {}

    [[nodiscard]] double seconds(Algorithm algorithm) noexcept;
    using StepPrices::segment;

private:
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
    Sizes sizes_;
    Rank p_;
};

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
               copy(n * p_ * (2 + 0.5 * std::log2(p_))) + ops(p_);
    case Algorithm::pairwise: {  // A few pairs at a time.
        double const pairs = std::min<double>(p_ - 1, 4);
        return all_with(pairs, n) * (p_ - 1) / pairs + copy(n);
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
        return chain(n, combine_byte()) +
               (to_root > 0 ? one(p_ - 1, static_cast<double>(segment())) : 0);
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
        return (all_with(1, n) + combine(n)) * (p_ - 1);
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
        return chain(n, combine_byte()) + copy(n);
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
