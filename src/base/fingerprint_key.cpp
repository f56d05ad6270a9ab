// How a key is drawn, and its powers put into tables. See fingerprint_key.hpp.
#include "base/fingerprint_key.hpp"

#include "base/mixed.hpp"

#include <algorithm>

namespace sluice {
namespace {

using namespace field;

/// All that divide p - 1 = 2 * 3^2 * 5^2 * 7 * 11 * 13 * 31 * 41 * 61 * 151 * 331 * 1321.
constexpr std::array<std::uint64_t, 12> primes{2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321};

constexpr bool are_all_primes() noexcept {
    std::uint64_t rest = p - 1;
    for (std::uint64_t const prime : primes) {
        while (rest % prime == 0) rest /= prime;
    }
    return rest == 1;
}
static_assert(are_all_primes());

std::unique_ptr<FingerprintKey::Powers const> make_powers(Element r) {
    auto powers = std::make_unique<FingerprintKey::Powers>();
    Element step = r;
    for (auto& level : *powers) {
        Element power = one;
        for (Element& entry : level) {
            entry = power;
            power = power * step;
        }
        step = power;
    }
    return powers;
}

}  // namespace

bool is_generator(FingerprintKey::Point const& point) noexcept {
    if (point[0] >= p || point[1] >= p) return false;
    std::uint64_t const n = least(norm({point[0], point[1]}));
    if (n == 0) return false;
    return std::ranges::all_of(
        primes, [&](std::uint64_t prime) { return least(field::power(n, (p - 1) / prime)) != 1; });
}

FingerprintKey::Powers const& FingerprintKey::powers() const {
    return *powers_.get([this] { return make_powers({point_[0], point_[1]}); });
}

/// The generator of numbers is SplitMix64 (Steele, Lea and Flood 2014).
std::shared_ptr<FingerprintKey const> FingerprintKey::of_seed(std::uint64_t seed) {
    auto const point = draw_generator([state = seed]() mutable -> std::optional<std::uint64_t> {
        return mixed(state += 0x9e3779b97f4a7c15);
    });
    return std::make_shared<FingerprintKey const>(point.value());
}

}  // namespace sluice
