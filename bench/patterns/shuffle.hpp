// Orders and numbers that look drawn but are computed: the same on every rank and machine, and each
// found without the others. Pure.
#pragma once
#include <cstdint>
#include <utility>

namespace sluice::patterns {

/// A number without visible order for each pair: splitmix64's finaliser over their mixture.
[[nodiscard]] inline std::uint64_t scattered(std::uint64_t seed, std::int64_t number) noexcept {
    auto x = seed * 0xD1B54A32D192ED03u + static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// Some order of the numbers below `count`: a Feistel network of four passes over as many bits as
/// they need, taken again while what it gives is not below.
class Shuffle {
public:
    Shuffle(std::uint64_t seed, std::uint64_t count) noexcept : seed_(seed), count_(count) {
        while (std::uint64_t{1} << (2 * half_) < count) ++half_;
    }

    [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const noexcept {
        do number = once(number);
        while (number >= count_);
        return number;
    }

private:
    [[nodiscard]] std::uint64_t once(std::uint64_t number) const noexcept {
        constexpr std::int64_t passes = 4;
        std::uint64_t const mask = (std::uint64_t{1} << half_) - 1;
        std::uint64_t high = number >> half_, low = number & mask;
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            auto const drawn = scattered(seed_, static_cast<std::int64_t>(low) * passes + pass);
            high = std::exchange(low, high ^ (drawn & mask));
        }
        return high << half_ | low;
    }

    std::uint64_t seed_, count_;
    int half_ = 0;  ///< Bits.
};

}  // namespace sluice::patterns
