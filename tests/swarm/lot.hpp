// Numbers that are drawn from a seed and a place. Each part of a world has a place of its own, so
// that leaving one part out, or making it smaller, changes no other: failures can be shrunk.
#pragma once
#include "base/mixed.hpp"

#include <cstdint>
#include <initializer_list>

namespace sluice::swarm {

class Lot {
public:
    explicit Lot(std::uint64_t seed) noexcept : name_(mixed(seed)) {}
    /// The draws of a part.
    [[nodiscard]] Lot of(std::uint64_t part) const noexcept { return Lot(mixed(name_, part + 1)); }

    /// A number in [0, below).
    std::int64_t below(std::int64_t below) noexcept {
        return static_cast<std::int64_t>(mixed(name_, ++drawn_ << 32) %
                                         static_cast<std::uint64_t>(below));
    }
    /// A number in [least, most].
    std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
        return least + below(most - least + 1);
    }
    bool chance(int percent) noexcept { return below(100) < percent; }
    template <class Value> Value one_of(std::initializer_list<Value> values) noexcept {
        return values.begin()[below(static_cast<std::int64_t>(values.size()))];
    }

private:
    std::uint64_t name_;
    std::uint64_t drawn_ = 0;
};

}  // namespace sluice::swarm
