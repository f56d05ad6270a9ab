// Ranks and numbers of the simulation as places in vectors.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice::simulated {

constexpr std::size_t index(std::int64_t number) noexcept {
    return static_cast<std::size_t>(number);
}

}  // namespace sluice::simulated
