// What steps cost. See step_prices.hpp.
#include "collective/step_prices.hpp"

#include <cmath>

namespace sluice {

constexpr Bytes segment_least = 8 << 10, segment_most = 1 << 20;

/// The best segment is where the pipeline's filling costs as much as what each segment costs
/// whatever its length: s^2 = bytes * start / (byte * (ranks - 2)).
double StepPrices::chain(double bytes, double byte) noexcept {
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

}  // namespace sluice
