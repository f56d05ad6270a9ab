// Chance that is the same on all ranks and with all MPIs: numbers that are named by the seed and by
// the place where they are used, so that leaving out one step changes no other.
#pragma once
#include "model.hpp"

#include <initializer_list>
#include <numeric>

namespace random_test {

class Random {
public:
    Random(std::uint64_t seed, std::initializer_list<std::int64_t> place) : state_(seed) {
        for (auto const part : place) {
            state_ = model::mix(state_ ^ model::mix(static_cast<std::uint64_t>(part)));
        }
    }
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        return model::mix(state_);
    }
    /// From 0 to n - 1.
    template <class Integer> Integer below(Integer n) {
        return n <= 0 ? Integer{0} : static_cast<Integer>(next() % static_cast<std::uint64_t>(n));
    }
    /// From `low` to `high`, both included.
    template <class Integer> Integer between(Integer low, Integer high) {
        return low + below<Integer>(high - low + 1);
    }
    bool chance(int percent) { return below(100) < percent; }
    template <class Value> Value one_of(std::initializer_list<Value> values) {
        return values.begin()[below(values.size())];
    }
    template <class Value> void shuffle(std::vector<Value>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }
    /// `0 .. n - 1` in some order.
    std::vector<int> order_of(int n) {
        std::vector<int> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        shuffle(order);
        return order;
    }

private:
    std::uint64_t state_;
};

/// How much a program moves.
enum class Scale { small, medium, large };

/// Typical sizes of a scale, in bytes.
struct Sizes {
    std::int64_t piece;     ///< Bytes that lie together, at most.
    std::int64_t type;      ///< One instance of a datatype.
    std::int64_t transfer;  ///< One rank's part of one call.
    std::int64_t file;      ///< No access ends behind this.
};

inline Sizes sizes_of(Scale scale, int shrink) {
    static constexpr Sizes table[] = {{32, 400, 3000, 1 << 17},
                                      {1024, 16000, 150000, 1 << 22},
                                      {16384, 200000, 2000000, 1 << 25}};
    Sizes sizes = table[static_cast<std::size_t>(scale)];
    auto const less = [shrink](std::int64_t bytes) {
        return std::max<std::int64_t>(bytes >> shrink, 16);
    };
    return {less(sizes.piece), less(sizes.type), less(sizes.transfer), sizes.file};
}

}  // namespace random_test
