// The predefined operations against what MPI's table says of single elements, computed another way.
#include "collective/reduction.hpp"
#include "drawn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sluice::reduction_test {
namespace {

constexpr int op_count = static_cast<int>(ReductionOp::no_op) + 1;
constexpr int type_count = static_cast<int>(ElementType::pair_long_double) + 1;

using Memory = std::vector<std::byte>;

template <class T> T at(Memory const& memory, std::size_t offset) {
    T value;
    std::memcpy(&value, memory.data() + offset, sizeof value);
    return value;
}

template <class T> void put(Memory& memory, std::size_t offset, T value) {
    std::memcpy(memory.data() + offset, &value, sizeof value);
}

/// Applies the kernel to elements at odd addresses; `check` gets left, old and new right element.
/// What lies around the elements must stay.
template <class T>
void apply(Reduction const& kernel, std::size_t size,
           std::function<T(std::mt19937_64&)> const& draw,
           std::function<void(std::size_t, Memory&, T)> const& write,
           std::function<void(Memory const&, Memory const&, Memory const&, std::size_t)> check) {
    std::mt19937_64 random(testing::run_seed() + size);
    for (std::size_t const count : {0, 1, 2, 37, 1001}) {
        for (std::size_t const shift : {0, 1, 3}) {
            Memory left(count * size + 8, std::byte{0xa5}), right = left;
            for (std::size_t i = 0; i < count; ++i) {
                write(shift + i * size, left, draw(random));
                write(shift + i * size, right, draw(random));
            }
            Memory const before = right;
            kernel.apply(left.data() + shift, right.data() + shift,
                         static_cast<Bytes>(count * size));
            for (std::size_t i = 0; i < count; ++i) check(left, before, right, shift + i * size);
            for (std::size_t i = 0; i < shift; ++i) ASSERT_EQ(before[i], right[i]);
            for (std::size_t i = shift + count * size; i < right.size(); ++i) {
                ASSERT_EQ(before[i], right[i]);
            }
        }
    }
}

template <class T>
void expect_elements(ReductionOp op, ElementType type, std::function<T(std::mt19937_64&)> draw,
                     std::function<T(T, T)> const& expected) {
    auto const* const kernel = native_reduction(op, type);
    ASSERT_NE(kernel, nullptr) << int(op) << ' ' << int(type);
    ASSERT_EQ(element_bytes(type), Bytes{sizeof(T)});
    apply<T>(
        *kernel, sizeof(T), draw,
        [](std::size_t offset, Memory& memory, T value) { put(memory, offset, value); },
        [&](Memory const& left, Memory const& before, Memory const& after, std::size_t offset) {
            ASSERT_EQ(at<T>(after, offset), expected(at<T>(left, offset), at<T>(before, offset)))
                << int(op) << ' ' << int(type);
        });
}

/// Few small numbers, so that equal ones and zeros are met, and some from the whole range.
template <class T> T draw_number(std::mt19937_64& random) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(random() % 3 ? random() % 4 : random());
    } else {
        return static_cast<T>(static_cast<double>(random() % 1000) / 8 - 50);
    }
}

template <class T> void expect_logical(ElementType type) {
    auto const test = [&](ReductionOp op, bool (*truth)(bool, bool)) {
        expect_elements<T>(op, type, draw_number<T>,
                           [truth](T a, T b) { return T(truth(a != 0, b != 0) ? 1 : 0); });
    };
    test(ReductionOp::logical_and, [](bool a, bool b) { return a && b; });
    test(ReductionOp::logical_or, [](bool a, bool b) { return a || b; });
    test(ReductionOp::logical_xor, [](bool a, bool b) { return a != b; });
}

template <class T> void expect_ordered(ElementType type) {
    expect_elements<T>(ReductionOp::min, type, draw_number<T>,
                       [](T a, T b) { return std::min(a, b); });
    expect_elements<T>(ReductionOp::max, type, draw_number<T>,
                       [](T a, T b) { return std::max(a, b); });
}

/// Integers of less than 64 bits are computed with 64 and cut; those of 64 with 128.
__extension__ using Wide = __int128;

template <class T> void expect_integers(ElementType type) {
    expect_ordered<T>(type);
    expect_logical<T>(type);
    auto const test = [&](ReductionOp op, Wide (*wide)(Wide, Wide)) {
        expect_elements<T>(op, type, draw_number<T>, [wide](T a, T b) {
            return static_cast<T>(static_cast<std::uint64_t>(wide(a, b)));
        });
    };
    test(ReductionOp::sum, [](Wide a, Wide b) { return a + b; });
    test(ReductionOp::prod, [](Wide a, Wide b) -> Wide {
        // Modulo 2^64 by halves: no product of 128 bits overflows.
        auto const x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        std::uint64_t const low = (x & 0xffffffffU) * y;
        return static_cast<Wide>(low + (((x >> 32) * y) << 32));
    });
    test(ReductionOp::bit_and, [](Wide a, Wide b) { return a & b; });
    test(ReductionOp::bit_or, [](Wide a, Wide b) { return a | b; });
    test(ReductionOp::bit_xor, [](Wide a, Wide b) { return (a | b) - (a & b); });
}

template <class T> void expect_numbers(ElementType type, std::function<T(std::mt19937_64&)> draw) {
    expect_elements<T>(ReductionOp::sum, type, draw, [](T a, T b) { return a + b; });
    expect_elements<T>(ReductionOp::prod, type, draw, [](T a, T b) { return a * b; });
}

template <class T> void expect_floats(ElementType real, ElementType complex) {
    expect_ordered<T>(real);
    expect_numbers<T>(real, draw_number<T>);
    expect_numbers<std::complex<T>>(complex, [](std::mt19937_64& random) {
        return std::complex<T>(draw_number<T>(random), draw_number<T>(random));
    });
}

template <class Value> void expect_pairs(ElementType type) {
    constexpr std::size_t size = sizeof(Value) + 4;
    ASSERT_EQ(element_bytes(type), Bytes{size});
    using Drawn = std::pair<Value, std::int32_t>;
    auto const pair_at = [](Memory const& memory, std::size_t offset) {
        return Drawn(at<Value>(memory, offset), at<std::int32_t>(memory, offset + sizeof(Value)));
    };
    for (bool const least : {true, false}) {
        auto const op = least ? ReductionOp::min_place : ReductionOp::max_place;
        apply<Drawn>(
            *native_reduction(op, type), size,
            [](std::mt19937_64& random) {
                return Drawn(static_cast<Value>(random() % 3), static_cast<std::int32_t>(random()));
            },
            [](std::size_t offset, Memory& memory, Drawn pair) {
                put(memory, offset, pair.first);
                put(memory, offset + sizeof(Value), pair.second);
            },
            [&](Memory const& left, Memory const& before, Memory const& after, std::size_t i) {
                auto candidates = std::set<Drawn>{pair_at(left, i), pair_at(before, i)};
                auto const value = least ? candidates.begin()->first : candidates.rbegin()->first;
                auto const wanted =
                    candidates.lower_bound(Drawn(value, std::numeric_limits<std::int32_t>::min()));
                ASSERT_EQ(pair_at(after, i), *wanted) << int(type);
            });
    }
}

TEST(reduction, integers) {
    expect_integers<std::int8_t>(ElementType::int8);
    expect_integers<std::int16_t>(ElementType::int16);
    expect_integers<std::int32_t>(ElementType::int32);
    expect_integers<std::int64_t>(ElementType::int64);
    expect_integers<std::uint8_t>(ElementType::uint8);
    expect_integers<std::uint16_t>(ElementType::uint16);
    expect_integers<std::uint32_t>(ElementType::uint32);
    expect_integers<std::uint64_t>(ElementType::uint64);
}

TEST(reduction, floating_point_and_complex) {
    expect_floats<float>(ElementType::float32, ElementType::complex32);
    expect_floats<double>(ElementType::float64, ElementType::complex64);
    expect_floats<long double>(ElementType::float80, ElementType::complex80);
}

TEST(reduction, logicals_are_zero_or_one) {
    expect_logical<std::uint8_t>(ElementType::boolean);
    expect_logical<std::uint32_t>(ElementType::logical32);
}

TEST(reduction, of_equal_values_the_smaller_place_wins) {
    expect_pairs<float>(ElementType::pair_float);
    expect_pairs<double>(ElementType::pair_double);
    expect_pairs<long>(ElementType::pair_long);
    expect_pairs<std::int32_t>(ElementType::pair_int);
    expect_pairs<short>(ElementType::pair_short);
    expect_pairs<long double>(ElementType::pair_long_double);
}

TEST(reduction, replace_takes_the_left_one_and_no_op_keeps_the_right_one) {
    for (int type = 0; type < type_count; ++type) {
        Memory const left(64, std::byte{1});
        Memory right(64, std::byte{2});
        auto const of = [&](ReductionOp op) {
            return native_reduction(op, static_cast<ElementType>(type));
        };
        of(ReductionOp::no_op)->apply(left.data(), right.data(), 64);
        EXPECT_EQ(right, Memory(64, std::byte{2}));
        of(ReductionOp::replace)->apply(left.data(), right.data(), 63);
        right.back() = std::byte{1};
        EXPECT_EQ(right, left);
    }
}

/// A letter for each operation: + * < > & | ^ for logicals, a o x for bits, m M for places.
TEST(reduction, is_defined_where_mpi_says) {
    std::string_view const letters = "+*<>&|^aoxmMrn";
    auto const defined = [&](ElementType type) {
        std::string text;
        for (int op = 0; op < op_count; ++op) {
            if (native_reduction(static_cast<ReductionOp>(op), type)) {
                text += letters[static_cast<std::size_t>(op)];
            }
        }
        return text;
    };
    using E = ElementType;
    for (auto const type :
         {E::int8, E::int16, E::int32, E::int64, E::uint8, E::uint16, E::uint32, E::uint64}) {
        EXPECT_EQ(defined(type), "+*<>&|^aoxrn");
    }
    for (auto const type : {E::float32, E::float64, E::float80}) {
        EXPECT_EQ(defined(type), "+*<>rn");
    }
    for (auto const type : {E::complex32, E::complex64, E::complex80}) {
        EXPECT_EQ(defined(type), "+*rn");
    }
    for (auto const type : {E::boolean, E::logical32}) EXPECT_EQ(defined(type), "&|^rn");
    for (auto const type : {E::pair_float, E::pair_double, E::pair_long, E::pair_int, E::pair_short,
                            E::pair_long_double}) {
        EXPECT_EQ(defined(type), "mMrn");
    }
}

}  // namespace
}  // namespace sluice::reduction_test
