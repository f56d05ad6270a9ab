// Sizes in whole units: pages, cache lines, stripes.
#pragma once
#include <type_traits>

namespace sluice {

/// The least multiple of the unit that is not less.
template <class Number>
constexpr Number round_up(Number value, std::type_identity_t<Number> unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

}  // namespace sluice
