// Arithmetic in the field of p^2 elements: complex numbers modulo p = 2^61 - 1, a prime that is 3
// modulo 4, so that -1 has no root there. Pure. Users: base/fingerprint.cpp, fingerprint_key.cpp.
#pragma once
#include <cstdint>

namespace sluice::field {

__extension__ using Wide = unsigned __int128;

inline constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;

/// A number below 2^124, modulo p, but not always the least: at most p + 7.
constexpr std::uint64_t fold(Wide wide) noexcept {
    std::uint64_t const once =
        (static_cast<std::uint64_t>(wide) & p) + static_cast<std::uint64_t>(wide >> 61);
    return (once & p) + (once >> 61);
}

constexpr std::uint64_t fold(std::uint64_t value) noexcept { return (value & p) + (value >> 61); }

constexpr std::uint64_t least(std::uint64_t value) noexcept {
    return value >= p ? value - p : value;
}

/// real + imaginary * i, with i * i = -1. Parts are at most p + 7.
struct Element {
    std::uint64_t real = 0, imaginary = 0;
};

inline constexpr Element one{1, 0};

constexpr Element operator*(Element a, Element b) noexcept {
    return {fold(Wide{a.real} * b.real + Wide{a.imaginary} * (2 * p - b.imaginary)),
            fold(Wide{a.real} * b.imaginary + Wide{a.imaginary} * b.real)};
}

constexpr Element operator+(Element a, Element b) noexcept {
    return {fold(a.real + b.real), fold(a.imaginary + b.imaginary)};
}

constexpr Element operator-(Element a, Element b) noexcept {
    return {fold(a.real + (2 * p - b.real)), fold(a.imaginary + (2 * p - b.imaginary))};
}

/// e times its conjugate, which is e^(p + 1): a plain number modulo p.
constexpr std::uint64_t norm(Element e) noexcept {
    return fold(Wide{e.real} * e.real + Wide{e.imaginary} * e.imaginary);
}

/// Of a plain number.
constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) noexcept {
    std::uint64_t product = 1;
    for (; exponent != 0; exponent >>= 1, base = fold(Wide{base} * base)) {
        if ((exponent & 1) != 0) product = fold(Wide{product} * base);
    }
    return product;
}

/// 1 / e = conjugate(e) / norm(e); of a plain number n, 1 / n = n^(p - 2).
constexpr Element inverse(Element e) noexcept {
    std::uint64_t const inverse_of_norm = power(norm(e), p - 2);
    return {fold(Wide{e.real} * inverse_of_norm),
            fold(Wide{2 * p - e.imaginary} * inverse_of_norm)};
}

}  // namespace sluice::field
