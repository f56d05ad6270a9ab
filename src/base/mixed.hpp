// One word of two. Pure.
#pragma once
#include <cstdint>

namespace sluice {

/// A word that depends on both, and that other pairs do not give: that of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t name, std::uint64_t part) noexcept {
    std::uint64_t word = name + part * 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

}  // namespace sluice
