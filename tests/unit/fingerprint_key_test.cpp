// The key of the proof of coverage: the field by plain arithmetic, which points are taken, and that
// a pattern made for one key proves nothing under another.
#include "file/plan/summary.hpp"
#include "system/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string_view>

namespace sluice::fingerprint_key_test {
namespace {

constexpr Offset far = Offset{1} << 62;

FingerprintKey const& key() {
    static auto const only = FingerprintKey::of_seed(1);
    return *only;
}

Fingerprint of(std::vector<Span> const& pieces, FingerprintKey const& with) {
    Fingerprint sum;
    for (Span const piece : pieces) sum = sum + fingerprint(piece, with);
    return sum;
}

__extension__ using Wide = unsigned __int128;
constexpr Wide p = (Wide{1} << 61) - 1;

struct Plain {
    Wide real, imaginary;
    bool operator==(Plain const&) const = default;
};

Plain operator*(Plain a, Plain b) {
    Wide const minus = (p - a.imaginary * b.imaginary % p) % p;
    return {(a.real * b.real + minus) % p, (a.real * b.imaginary + a.imaginary * b.real) % p};
}

Plain power(Plain base, Wide exponent) {
    Plain result{1, 0};
    for (; exponent != 0; exponent >>= 1, base = base * base) {
        if ((exponent & 1) != 0) result = result * base;
    }
    return result;
}

/// 1 - f: of the span from 0 to x it is r^x.
Plain one_minus(Fingerprint f) { return {(p + 1 - f.words[0]) % p, (p - f.words[1]) % p}; }

TEST(FingerprintKey, IsThatOfTheField) {
    Plain const r = one_minus(fingerprint(Span{0, 1}, key()));
    for (Offset const x : {Offset{2}, Offset{255}, Offset{256}, Offset{65'537}, far - 1, far}) {
        EXPECT_EQ(one_minus(fingerprint(Span{0, x}, key())), power(r, static_cast<Wide>(x)));
    }
}

/// By the definition: r^(order / q) is not 1 for any prime q that divides the order.
bool generates(FingerprintKey::Point const& point) {
    Plain const r{point[0], point[1]};
    Wide const order = p * p - 1;
    Wide rest = order;
    for (Wide const prime : {2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321}) {
        if (power(r, order / prime) == Plain{1, 0}) return false;
        while (rest % prime == 0) rest /= prime;
    }
    EXPECT_TRUE(rest == 1);  // These are all primes that divide the order.
    return power(r, order) == Plain{1, 0};
}

RC_GTEST_PROP(FingerprintKey, OnlyGeneratorsAreTaken, ()) {
    auto const draw = [] { return *rc::gen::arbitrary<std::uint64_t>() >> 3; };
    FingerprintKey::Point const point{draw(), draw()};
    bool const in_field = point[0] < p && point[1] < p && (point[0] | point[1]) != 0;
    RC_ASSERT(is_generator(point) == (in_field && generates(point)));
}

TEST(FingerprintKey, NoElementOfASmallerOrderIsTaken) {
    auto const g = FingerprintKey::of_seed(7)->point();
    EXPECT_TRUE(is_generator(g));
    for (Wide const prime : {2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321}) {
        Plain const r = power({g[0], g[1]}, prime);
        EXPECT_FALSE(is_generator(
            {static_cast<std::uint64_t>(r.real), static_cast<std::uint64_t>(r.imaginary)}));
    }
    EXPECT_FALSE(is_generator({0, 0}));
    EXPECT_FALSE(is_generator({1, 0}));
    EXPECT_FALSE(is_generator({0, 1}));
    auto const field_p = static_cast<std::uint64_t>(p);
    EXPECT_FALSE(is_generator({g[0] + field_p, g[1]}));  // The same element, but not the least.
}

/// Of the 64 random bits of each part 61 are used.
TEST(FingerprintKey, IsDrawnUntilItIsAGenerator) {
    auto const g = FingerprintKey::of_seed(7)->point();
    auto const squared = power({g[0], g[1]}, 2);
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(squared.real),
                                     static_cast<std::uint64_t>(squared.imaginary),
                                     static_cast<std::uint64_t>(p),
                                     1,
                                     g[0],
                                     g[1]};
    std::size_t next = 0;
    auto const random = [&]() -> std::optional<std::uint64_t> {
        if (next == words.size()) return std::nullopt;
        return words[next++] << 3 | 5;
    };
    EXPECT_EQ(draw_generator(random), g);
    EXPECT_EQ(draw_generator(random), std::nullopt);  // No more random numbers.
}

TEST(FingerprintKey, OfTheSystemDiffersEachTime) {
    std::set<FingerprintKey::Point> points;
    for (int i = 0; i < 100; ++i) {
        auto const point = draw_generator(SystemRandom());
        ASSERT_TRUE(point.has_value());
        EXPECT_TRUE(generates(*point));
        points.insert(*point);
    }
    EXPECT_EQ(points.size(), 100U);
}

// ---- Patterns that were made for a key --------------------------------------------------------

/// How often each unit of 8 bytes is written, between two that are written once. Lattice reduction
/// (BKZ) found it within seconds for one point: as many bytes as the span has, and 28 holes.
constexpr std::string_view deceiving =
    "01000201211120211012111202100212022012220002012111310111111211101101101121011022"
    "21210010111011201111130121111111111111";
constexpr FingerprintKey::Point deceived{0x18812d77785ec1cc, 0x11b7a7ed483f8f93};

std::vector<Span> pieces_of(std::string_view counts) {
    std::vector<Span> pieces{{0, 8}};
    Offset at = 8;
    for (char const count : counts) {
        pieces.insert(pieces.end(), static_cast<std::size_t>(count - '0'), Span{at, at + 8});
        at += 8;
    }
    pieces.push_back({at, at + 8});
    return pieces;
}

/// What all ranks together want, each piece by a rank of its own.
Summary summary_exchange_of(std::vector<Span> const& pieces, FingerprintKey const& with) {
    Summary all;
    for (Span const piece : pieces) {
        Request r;
        r.view.displacement = piece.begin;
        r.bytes = piece.bytes();
        all = merge(all, summarise(r, {0, &with}));
    }
    return all;
}

TEST(FingerprintKey, APatternMadeForOneIsRejectedByOthers) {
    auto const pieces = pieces_of(deceiving);
    Span const span{0, static_cast<Offset>(deceiving.size() + 2) * 8};
    FingerprintKey const known(deceived);
    EXPECT_TRUE(is_generator(deceived));
    EXPECT_EQ(of(pieces, known), fingerprint(span, known));  // It can be done, so r is secret.
    EXPECT_TRUE(is_covered(summary_exchange_of(pieces, known), &known));
    for (int i = 0; i < 100; ++i) {
        FingerprintKey const drawn(draw_generator(SystemRandom()).value());
        EXPECT_FALSE(is_covered(summary_exchange_of(pieces, drawn), &drawn));
    }
    FingerprintKey const other(draw_generator(SystemRandom()).value());
    EXPECT_TRUE(is_covered(summary_exchange_of(pieces_of(std::string(118, '1')), other), &other));
}

/// The powers of i are four, so with it only offsets modulo 4 count.
TEST(FingerprintKey, TheNumberOfBytesIsComparedToo) {
    FingerprintKey const weak({0, 1});
    std::vector<Span> const twice{{0, 4}, {4, 8}, {4, 8}, {8, 12}}, missing{{0, 4}, {8, 12}},
        moved{{0, 4}, {4, 8}, {4, 8}, {12, 16}};
    for (auto const& pieces : {twice, missing}) {
        EXPECT_EQ(of(pieces, weak), fingerprint(Span{0, 12}, weak));
        EXPECT_FALSE(is_covered(summary_exchange_of(pieces, weak), &weak));
    }
    EXPECT_TRUE(is_covered(summary_exchange_of(moved, weak), &weak));
    EXPECT_FALSE(is_covered(summary_exchange_of(moved, key()), &key()));
}

TEST(FingerprintKey, WithoutOneNothingIsProved) {
    std::vector<Span> const pieces{{0, 8}, {8, 16}};
    EXPECT_FALSE(is_covered(summary_exchange_of(pieces, key()), nullptr));
    Request r;
    r.bytes = 8;
    EXPECT_EQ(summarise(r).unproven, 1);
}

TEST(FingerprintKey, ALayoutIsKnownUnderSeveral) {
    std::vector<sluice::Run> runs;
    for (Offset i = 0; i < 100; ++i) runs.push_back({i * i + i * 10, 8, 0, 1});
    Layout const layout(runs, 1 << 20);
    std::vector<std::shared_ptr<FingerprintKey const>> keys;
    for (std::uint64_t seed = 0; seed < 20; ++seed) keys.push_back(FingerprintKey::of_seed(seed));
    for (int i = 0; i < 3; ++i) {
        for (auto const& with : keys) {
            std::vector<Span> pieces;
            for (auto const& run : runs) pieces.push_back({run.offset, run.offset + run.length});
            EXPECT_EQ(fingerprint(layout, *with), of(pieces, *with));
        }
        std::ranges::reverse(keys);
    }
}

TEST(Memo, KeepsWhatWasComputedForTheLastKeys) {
    Memo<int, int> memo;
    int computed = 0;
    auto const ask = [&](int of) { return memo.get(of, [&] { return ++computed, of * of; }); };
    for (int of = 0; of < 8; ++of) EXPECT_EQ(ask(of), of * of);
    for (int of = 0; of < 8; ++of) EXPECT_EQ(ask(of), of * of);
    EXPECT_EQ(computed, 8);
    EXPECT_EQ(ask(8), 64);
    EXPECT_EQ(ask(7), 49);
    EXPECT_EQ(computed, 9);
    EXPECT_EQ(ask(0), 0);  // The oldest made room.
    EXPECT_EQ(computed, 10);
    Memo<int, int> const copy(memo);
    EXPECT_EQ(copy.get(7, [] { return -1; }), -1);
}

}  // namespace
}  // namespace sluice::fingerprint_key_test
