// Words that depend on all bits of others, by SplitMix64 (Steele, Lea and Flood 2014). Pure.
#pragma once
#include <cstdint>

namespace sluice {

/// The last step: all bits depend on all bits.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t word) noexcept {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

/// A word that depends on both, and that other pairs do not give.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t name, std::uint64_t part) noexcept {
    return mixed(name + part * 0x9e3779b97f4a7c15);
}

}  // namespace sluice
