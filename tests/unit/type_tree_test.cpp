// Type trees of datatypes: what they flatten to, when they are equal, and how layouts are kept.
#include "base/flatten.hpp"
#include "base/layout_cache.hpp"
#include "base/type_tree_bounds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace sluice::type_tree_test {
namespace {

using Made = std::shared_ptr<TypeTree const>;

Made element(Bytes size) {
    TypeTree r;
    r.size = size;
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

struct Lists {
    std::vector<int> ints{};
    std::vector<std::int64_t> places{}, counts{};
};

Made made(Maker maker, Lists lists, std::vector<Made> parts,
          std::vector<std::uint32_t> which = {}) {
    TypeTree r;
    r.maker = maker;
    r.ints = std::move(lists.ints);
    r.places = std::move(lists.places);
    r.counts = std::move(lists.counts);
    r.parts = std::move(parts);
    r.which = std::move(which);
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

/// The same with bounds that the MPI told.
Made bounded(TypeTree r, Offset lower, Offset extent) {
    r.bounded = true;
    r.lower = lower, r.extent = extent;
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

/// Offsets of all bytes of one instance; a contiguous layout has no end, but the one given.
std::vector<Offset> bytes_of(TypeTree const& type_tree, Bytes most = 1000) {
    auto const layout = flatten(type_tree);
    std::vector<Offset> all;
    Bytes const bytes = std::min(layout->tile_bytes(), most);
    for (Bytes i = 0; i < bytes; ++i) all.push_back(layout->offset_at(i));
    return all;
}

TEST(Flatten, SmallAndLargeConstructorsAreReadAlike) {
    auto const small = made(Maker::hindexed, {{3, 1, 0, 2}, {40, 0, 8}, {}}, {element(4)});
    auto const large = made(Maker::hindexed, {{}, {}, {3, 1, 0, 2, 40, 0, 8}}, {element(4)});
    std::vector<Offset> const expected{40, 41, 42, 43, 8, 9, 10, 11, 12, 13, 14, 15};
    EXPECT_EQ(bytes_of(*small), expected);
    EXPECT_EQ(bytes_of(*large), expected);
    EXPECT_EQ(flatten(*small)->tile_extent(), 44 - 8);
}

TEST(Flatten, MembersOfStructuresMayShareAPart) {
    auto const pair = made(Maker::structure, {{3, 1, 2, 1}, {0, 10, 30}, {}},
                           {element(2), element(3)}, {0, 1, 0});
    EXPECT_EQ(bytes_of(*pair), (std::vector<Offset>{0, 1, 10, 11, 12, 13, 14, 15, 30, 31}));
    auto const same = made(Maker::structure, {{2, 1, 1}, {6, 0}, {}}, {element(2)});
    EXPECT_EQ(bytes_of(*same), (std::vector<Offset>{6, 7, 0, 1}));
}

TEST(Flatten, ToldBoundsSetTheExtent) {
    auto const listed = made(Maker::indexed_block, {{2, 1, 3, 1}, {}, {}}, {element(1)});
    EXPECT_EQ(flatten(*bounded(*listed, -4, 20))->tile_extent(), 20);
    EXPECT_EQ(bytes_of(*bounded(*listed, -4, 20)), bytes_of(*listed));
}

TEST(Flatten, ArraysInEitherOrder) {
    auto const array = [](bool c_order) {
        TypeTree r;
        r.maker = Maker::subarray;
        r.c_order = c_order;
        r.ints = {2, 3, 4, 2, 2, 1, 2, 0};  // 2 x 2 of 3 x 4, from (1, 2).
        r.parts = {element(1)};
        r.seal();
        return bytes_of(r);
    };
    EXPECT_EQ(array(true), (std::vector<Offset>{6, 7, 10, 11}));
    EXPECT_EQ(array(false), (std::vector<Offset>{7, 8, 10, 11}));
}

/// Distributed arrays of all processes together hold every byte once.
RC_GTEST_PROP(Flatten, DistributedArraysPartitionTheArray, ()) {
    int const rows = *rc::gen::inRange(1, 9), columns = *rc::gen::inRange(1, 9);
    int const high = *rc::gen::inRange(1, 4), wide = *rc::gen::inRange(1, 4);
    auto const any = rc::gen::inRange(1, 3);
    int const kinds[2]{*any, *any};
    int const given = *rc::gen::inRange(1, 4);
    int const cyclic = static_cast<int>(Distribution::cyclic);
    std::vector<Offset> all;
    for (int rank = 0; rank < high * wide; ++rank) {
        auto const argument = [&](int d) { return kinds[d] == cyclic ? given : -1; };
        auto const part = made(Maker::darray,
                               {{high * wide, rank, 2, rows, columns, kinds[0], kinds[1],
                                 argument(0), argument(1), high, wide, 0}},
                               {element(1)});
        auto const bytes = bytes_of(*part, rows * columns);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    std::sort(all.begin(), all.end());
    RC_ASSERT(all.size() == static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == static_cast<Offset>(i));
}

Made cyclic(std::int64_t size, std::int64_t length, int processes, int rank) {
    int const kind = static_cast<int>(Distribution::cyclic);
    TypeTree r;
    r.maker = Maker::darray;
    r.ints = {processes, rank, 1, kind, static_cast<int>(length), processes, 0};
    r.counts = {size};
    r.parts = {element(8)};
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

/// Products of these numbers are none, though the array is short.
TEST(Flatten, CyclicArraysMayHaveBlocksLongerThanThemselves) {
    constexpr int most = std::numeric_limits<int>::max();
    EXPECT_TRUE(flatten(*cyclic(3, most, most, 0))->is_contiguous());
    for (int const rank : {1, most - 1})
        EXPECT_EQ(flatten(*cyclic(3, most, most, rank))->tile_bytes(), 0);
    EXPECT_TRUE(flatten(*cyclic(most, most, 2, 0))->is_contiguous());
}

/// A regular pattern costs the same however many pieces it has.
TEST(Flatten, CyclicArraysOfAnySizeAreAFewRuns) {
    for (std::int64_t const size :
         {std::int64_t{10}, std::int64_t{20'000'001}, std::int64_t{4'000'000'003}}) {
        auto const layout = flatten(*cyclic(size, 2, 4, 0));
        Bytes const whole = size / 8 * 2, rest = std::min<std::int64_t>(size % 8, 2);
        EXPECT_EQ(layout->tile_bytes(), 8 * (whole + rest)) << size;
        EXPECT_EQ(layout->tile_extent(), 8 * size) << size;
        EXPECT_EQ(layout->offset_at(layout->tile_bytes() - 1),
                  8 * (rest > 0 ? size / 8 * 8 + rest : size / 8 * 8 - 6) - 1)
            << size;
        EXPECT_LT(layout->memory_bytes(), 1000) << size;
    }
}

/// Numbers at which 64 bits overflow: never flattened, and never undefined behaviour.
RC_GTEST_PROP(TypeTreeBounds, RefusesWhatOverflows, ()) {
    auto const number = [] {
        int const bits = *rc::gen::inRange(0, 63);
        std::int64_t const value = (std::int64_t{1} << bits) - *rc::gen::inRange(0, 3);
        return *rc::gen::arbitrary<bool>() ? value : -value;
    };
    auto const count = std::abs(number()), length = std::abs(number());
    Maker const makers[]{Maker::hvector, Maker::vector, Maker::hindexed_block};
    auto const maker = makers[*rc::gen::inRange(0, 3)];
    auto const part = bounded(*element(4), 0, std::abs(number()));
    Lists const lists = maker == Maker::hindexed_block
                            ? Lists{{}, {}, {2, length, number(), number()}}
                            : Lists{{}, {}, {count, length, number()}};
    auto const type_tree = made(maker, lists, {part});
    if (!is_in_range(*type_tree)) return;
    // Blocks of several pieces each are listed one by one, which takes memory.
    bool const takes_memory = maker != Maker::hindexed_block && length > 1 && count > 1 << 16;
    if (takes_memory) return;
    auto const layout = flatten(*type_tree);
    RC_ASSERT(layout->tile_bytes() >= 0 && layout->tile_bytes() <= offset_limit);
    RC_ASSERT(layout->tile_span().begin >= -offset_limit);
    RC_ASSERT(layout->tile_span().end <= offset_limit);
}

TEST(TypeTreeBounds, KnowsWhatIsTooLarge) {
    std::int64_t const large = std::int64_t{1} << 61;
    auto const hvector = [](std::int64_t count, std::int64_t step) {
        return made(Maker::hvector, {{}, {}, {count, 1, step}}, {element(8)});
    };
    EXPECT_TRUE(is_in_range(*hvector(1 << 30, 1 << 30)));
    EXPECT_FALSE(is_in_range(*hvector(3, large)));
    EXPECT_FALSE(is_in_range(*hvector(large, large)));
    EXPECT_FALSE(is_in_range(*made(Maker::contiguous, {{}, {}, {large}}, {element(8)})));
    EXPECT_FALSE(
        is_in_range(*made(Maker::structure, {{}, {}, {2, 1, 1, 0, 2 * large - 1}}, {element(8)})));
    EXPECT_FALSE(is_in_range(*bounded(*hvector(2, 8), 0, 2 * large)));
}

Made draw_list() {
    auto const n = *rc::gen::inRange(0, 5);
    Lists lists{{n}, {}, {}};
    for (int i = 0; i < n; ++i) lists.ints.push_back(*rc::gen::inRange(0, 3));
    for (int i = 0; i < n; ++i) lists.places.push_back(*rc::gen::inRange(0, 3));
    return made(Maker::hindexed, lists, {element(*rc::gen::inRange(1, 3))});
}

RC_GTEST_PROP(TypeTree, EqualMeansTheSameLists, ()) {
    auto const a = draw_list(), b = draw_list();
    bool const same =
        a->ints == b->ints && a->places == b->places && a->parts[0]->size == b->parts[0]->size;
    RC_ASSERT((*a == *b) == same);
    if (same) RC_ASSERT(a->hash() == b->hash());
}

TEST(TypeTree, DiffersInEachField) {
    auto const list = made(Maker::indexed, {{2, 1, 1, 0, 5}, {}, {}}, {element(4)});
    EXPECT_TRUE(*list == *made(Maker::indexed, {{2, 1, 1, 0, 5}, {}, {}}, {element(4)}));
    EXPECT_FALSE(*list == *made(Maker::hindexed, {{2, 1, 1, 0, 5}, {}, {}}, {element(4)}));
    EXPECT_FALSE(*list == *made(Maker::indexed, {{2, 1, 1, 0, 6}, {}, {}}, {element(4)}));
    EXPECT_FALSE(*list == *made(Maker::indexed, {{2, 1, 1, 0, 5}, {}, {}}, {element(8)}));
    EXPECT_FALSE(*list == *bounded(*list, 0, 24));
    EXPECT_FALSE(*bounded(*list, 0, 24) == *bounded(*list, 0, 28));
    EXPECT_FALSE(*bounded(*list, 0, 24) == *bounded(*list, 4, 24));
}

Made list_at(int place) {
    return made(Maker::indexed_block, {{2, 1, 0, place}, {}, {}}, {element(1)});
}

TEST(LayoutCache, FindsEqualTypeTrees) {
    LayoutCache cache(1 << 20);
    auto const layout = cache.add(list_at(7), flatten(*list_at(7)));
    EXPECT_EQ(cache.find(*list_at(7)), layout);
    EXPECT_EQ(cache.find(*list_at(8)), nullptr);
    EXPECT_EQ(cache.add(list_at(7), flatten(*list_at(7))), layout) << "the one that was there";
    cache.clear();
    EXPECT_EQ(cache.find(*list_at(7)), nullptr);
}

TEST(LayoutCache, IsBoundedAndDropsWhatWasUsedLongestAgo) {
    LayoutCache one(1 << 20);
    one.add(list_at(2), flatten(*list_at(2)));
    LayoutCache cache(3 * one.bytes());
    for (int place = 2; place < 5; ++place) cache.add(list_at(place), flatten(*list_at(place)));
    EXPECT_NE(cache.find(*list_at(2)), nullptr);
    cache.add(list_at(5), flatten(*list_at(5)));
    EXPECT_EQ(cache.find(*list_at(3)), nullptr);
    EXPECT_NE(cache.find(*list_at(2)), nullptr);
    for (int place = 6; place < 200; ++place) {
        cache.add(list_at(place), flatten(*list_at(place)));
        EXPECT_LE(cache.bytes(), 3 * one.bytes());
        EXPECT_NE(cache.find(*list_at(place)), nullptr);
    }
}

TEST(LayoutCache, KeepsNothingThatIsTooLarge) {
    LayoutCache cache(0);
    auto const layout = flatten(*list_at(7));
    EXPECT_EQ(cache.add(list_at(7), layout), layout);
    EXPECT_EQ(cache.find(*list_at(7)), nullptr);
    EXPECT_EQ(cache.bytes(), 0);
}

}  // namespace
}  // namespace sluice::type_tree_test
