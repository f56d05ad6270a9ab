// The point r at which fingerprints evaluate their polynomials, with the powers of it. The ranks of
// a communicator agree on one when they are set up; it is drawn at random and told to nobody else.
// Pure: random numbers are the caller's. Users: base/fingerprint.hpp, mpi/communicator/team.cpp.
#pragma once
#include "base/field.hpp"
#include "base/once.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

namespace sluice {

/// Immutable; shared by all that compare fingerprints.
class FingerprintKey {
public:
    /// Real and imaginary part of r, each below p.
    using Point = std::array<std::uint64_t, 2>;

    /// Bits of an exponent that one table serves: most gaps need one or two, and those tables stay
    /// in the processor's cache.
    static constexpr int digit_bits = 10;
    static constexpr std::uint64_t base = std::uint64_t{1} << digit_bits;
    /// powers[level][digit] is r^(digit * base^level); 112 KiB.
    using Powers = std::array<std::array<field::Element, base>, (63 + digit_bits) / digit_bits>;

    explicit FingerprintKey(Point const& point) noexcept : point_(point) {}

    /// For simulations and tests, and where fingerprints of one process are compared: a generator
    /// that anybody can compute, equal for equal seeds.
    static std::shared_ptr<FingerprintKey const> of_seed(std::uint64_t seed);

    [[nodiscard]] Point const& point() const noexcept { return point_; }
    /// Computed when they are first asked for, which takes as long as some thousand products: many
    /// communicators need no proof.
    [[nodiscard]] Powers const& powers() const;

private:
    Point point_;
    Once<std::unique_ptr<Powers const>> powers_;
};

/// Whether every element but 0 is a power of r. The group of these elements has the order
/// (p - 1) (p + 1), and p + 1 = 2^61: so the primes to look at are those that divide p - 1, and
/// r^((p - 1) (p + 1) / q) = norm(r)^((p - 1) / q).
[[nodiscard]] bool is_generator(FingerprintKey::Point const& point) noexcept;

/// A generator, each of them with the same probability. `random()` returns an optional of 64
/// random bits; nothing when it did. One point of 5.7 is a generator.
template <class Random> std::optional<FingerprintKey::Point> draw_generator(Random&& random) {
    for (;;) {
        std::optional<std::uint64_t> const real = random(), imaginary = random();
        if (!real || !imaginary) return std::nullopt;
        FingerprintKey::Point const point{*real >> 3, *imaginary >> 3};
        if (is_generator(point)) return point;
    }
}

}  // namespace sluice
