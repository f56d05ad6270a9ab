// Chance that is the same on all ranks, with all MPIs and in all builds: numbers that are named by
// a seed and by the place where they are used, so that leaving out one step changes no other.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

namespace model {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64: cheap and without visible pattern
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

}  // namespace model

namespace random_test {

class Random {
public:
    Random(std::uint64_t seed, std::initializer_list<std::int64_t> place) : begin_(seed) {
        for (auto const part : place) {
            begin_ = model::mix(begin_ ^ model::mix(static_cast<std::uint64_t>(part)));
        }
        state_ = begin_;
    }
    /// The numbers of a part of this place, whatever was drawn here.
    [[nodiscard]] Random of(std::int64_t part) const { return {begin_, {part}}; }

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
    std::uint64_t begin_;
    std::uint64_t state_;
};

}  // namespace random_test
