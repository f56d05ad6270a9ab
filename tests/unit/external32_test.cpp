// external32: single numbers as the standard writes them, and datatypes drawn at random against a
// list of their elements.
#include "base/external32.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>

namespace sluice::external32_test {
namespace {

using Made = std::shared_ptr<TypeTree const>;
using Data = std::vector<std::byte>;

/// A form, with the bytes that an element has in memory and in external32.
struct Element {
    ElementForm form;
    Bytes packed, external;
};
constexpr Element elements[] = {
    {ElementForm::bytes, 1, 1},           {ElementForm::number_2, 2, 2},
    {ElementForm::number_4, 4, 4},        {ElementForm::number_8, 8, 8},
    {ElementForm::long_integer, 8, 4},    {ElementForm::unsigned_long, 8, 4},
    {ElementForm::wide_character, 4, 2},  {ElementForm::complex_8, 16, 16},
    {ElementForm::value_2_and_int, 6, 6}, {ElementForm::value_8_and_int, 12, 12},
    {ElementForm::long_and_int, 12, 8}};

Made type_tree_of(Element const& element) {
    TypeTree r;
    r.size = element.packed;
    r.form = element.form;
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

Made made(Maker maker, std::vector<int> ints, std::vector<std::int64_t> places,
          std::vector<Made> parts, std::vector<std::uint32_t> which = {}) {
    TypeTree r;
    r.maker = maker;
    r.ints = std::move(ints);
    r.places = std::move(places);
    r.parts = std::move(parts);
    r.which = std::move(which);
    r.seal();
    return std::make_shared<TypeTree const>(std::move(r));
}

template <class T> Data memory_of(std::vector<T> const& values) {
    Data bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::string external_of(Element const& element, Data const& packed) {
    External32 const conversion(type_tree_of(element));
    auto const count = static_cast<std::int64_t>(packed.size()) / element.packed;
    Data external(static_cast<std::size_t>(count * element.external));
    EXPECT_TRUE(conversion.from_memory(packed.data(), count, external.data()));
    Data back(packed.size());
    conversion.to_memory(external.data(), count * element.external, back.data());
    EXPECT_EQ(back, packed);
    std::string text;
    for (std::byte const byte : external) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(byte));
        text += two;
    }
    return text;
}

TEST(External32, NumbersAreBigEndian) {
    EXPECT_EQ(external_of({ElementForm::number_2, 2, 2}, memory_of<short>({1, -2})), "0001fffe");
    EXPECT_EQ(external_of({ElementForm::number_4, 4, 4}, memory_of<int>({258})), "00000102");
    EXPECT_EQ(external_of({ElementForm::number_8, 8, 8}, memory_of<double>({1.5})),
              "3ff8000000000000");
    EXPECT_EQ(external_of({ElementForm::complex_4, 8, 8}, memory_of<float>({1, -2})),
              "3f800000c0000000");
}

TEST(External32, LongsAndWideCharactersAreShorter) {
    EXPECT_EQ(external_of({ElementForm::long_integer, 8, 4}, memory_of<long>({-2, 7})),
              "fffffffe00000007");
    EXPECT_EQ(external_of({ElementForm::unsigned_long, 8, 4}, memory_of<unsigned long>({~0u})),
              "ffffffff");
    EXPECT_EQ(external_of({ElementForm::wide_character, 4, 2}, memory_of<wchar_t>({L'\u20ac'})),
              "20ac");
}

TEST(External32, NumbersThatDoNotFitAreTold) {
    External32 const conversion(type_tree_of({ElementForm::long_integer, 8, 4}));
    Data external(4);
    EXPECT_FALSE(conversion.from_memory(memory_of<long>({1L << 40}).data(), 1, external.data()));
    EXPECT_FALSE(conversion.from_memory(memory_of<long>({1L << 31}).data(), 1, external.data()));
}

/// IEEE's format of 128 bits: a sign, 15 bits of exponent, 112 of fraction.
TEST(External32, LongDoublesHave128Bits) {
    Data packed(sizeof(long double));
    long double const value = -1.5L;
    // An x87 number has ten bytes, and padding.
    std::memcpy(packed.data(), &value, LDBL_MANT_DIG == 64 ? 10 : sizeof value);
    EXPECT_EQ(external_of({ElementForm::long_double, sizeof value, 16}, packed),
              "bfff8000000000000000000000000000");
}

TEST(External32, UnknownElementsAreTold) {
    EXPECT_FALSE(External32(type_tree_of({ElementForm::unknown, 4, 4})).is_known());
    auto const inside =
        made(Maker::contiguous, {3}, {}, {type_tree_of({ElementForm::unknown, 4, 4})});
    EXPECT_FALSE(External32(inside).is_known());
}

/// A datatype, and its elements in order.
struct Drawn {
    Made type_tree;
    std::vector<Element> list;
};

std::vector<Element> repeated(std::vector<Element> const& list, int count) {
    std::vector<Element> all;
    for (int i = 0; i < count; ++i) all.insert(all.end(), list.begin(), list.end());
    return all;
}

Drawn draw(int depth) {
    int const kind = depth == 0 ? 0 : *rc::gen::inRange(0, 5);
    int const count = *rc::gen::inRange(0, 4), length = *rc::gen::inRange(0, 3);
    if (kind == 0) {
        Element const element =
            *rc::gen::elementOf(std::vector<Element>(std::begin(elements), std::end(elements)));
        return {type_tree_of(element), {element}};
    }
    Drawn const part = draw(depth - 1);
    switch (kind) {
    case 1:
        return {made(Maker::contiguous, {count}, {}, {part.type_tree}), repeated(part.list, count)};
    case 2:
        return {made(Maker::vector, {count, length, 5}, {}, {part.type_tree}),
                repeated(part.list, count * length)};
    case 3:
        return {made(Maker::hindexed, {2, count, length}, {100, 0}, {part.type_tree}),
                repeated(part.list, count + length)};
    default: {
        Drawn const other = draw(depth - 1);
        auto list = repeated(part.list, count);
        for (auto const& element : repeated(other.list, length)) list.push_back(element);
        for (auto const& element : part.list) list.push_back(element);
        return {made(Maker::structure, {3, count, length, 1}, {0, 1000, 2000},
                     {part.type_tree, other.type_tree}, {0, 1, 0}),
                list};
    }
    }
}

/// Bytes of the elements that are whole in `external` bytes.
Bytes packed_of(std::vector<Element> const& list, Bytes external) {
    Bytes packed = 0;
    for (Element const& element : list) {
        external -= element.external;
        if (external < 0) break;
        packed += element.packed;
    }
    return packed;
}

Bytes total(std::vector<Element> const& list, Bytes Element::* bytes) {
    Bytes all = 0;
    for (Element const& element : list) all += element.*bytes;
    return all;
}

/// Small numbers, so that all of them fit.
Data draw_numbers(std::vector<Element> const& list) {
    Data packed;
    for (Element const& element : list) {
        Data bytes(static_cast<std::size_t>(element.packed));
        bytes[0] = static_cast<std::byte>(*rc::gen::inRange(0, 256));
        packed.insert(packed.end(), bytes.begin(), bytes.end());
    }
    return packed;
}

bool is_plain(Made const& type_tree) { return External32(type_tree).is_plain(); }

TEST(External32, PlainLiesAsInMemory) {
    for (Element const& element : elements) {
        bool const is_pair = element.form == ElementForm::value_2_and_int ||
                             element.form == ElementForm::value_8_and_int;
        EXPECT_EQ(is_plain(type_tree_of(element)), element.packed == element.external && !is_pair);
    }
    EXPECT_FALSE(is_plain(type_tree_of({ElementForm::long_double, sizeof(long double), 16})));
    Made const number = type_tree_of({ElementForm::number_4, 4, 4});
    Made const long_integer = type_tree_of({ElementForm::long_integer, 8, 4});
    EXPECT_TRUE(is_plain(made(Maker::contiguous, {3}, {}, {number})));
    EXPECT_FALSE(is_plain(made(Maker::contiguous, {3}, {}, {long_integer})));
    EXPECT_FALSE(is_plain(made(Maker::structure, {1, 1}, {0}, {number})));
}

RC_GTEST_PROP(External32, ConvertsWhatIsWhole, ()) {
    Drawn const drawn = draw(3);
    External32 const conversion(drawn.type_tree);
    int const instances = *rc::gen::inRange(0, 4);
    auto const list = repeated(drawn.list, instances);
    RC_ASSERT(conversion.bytes() == total(drawn.list, &Element::external));
    Data const packed = draw_numbers(list);
    Data external(static_cast<std::size_t>(total(list, &Element::external)));
    RC_ASSERT(conversion.from_memory(packed.data(), instances, external.data()));

    auto const got = *rc::gen::inRange<Bytes>(0, static_cast<Bytes>(external.size()) + 1);
    Bytes const whole = packed_of(list, got);
    RC_ASSERT(conversion.packed_bytes(got) == whole);
    Data back(static_cast<std::size_t>(whole));
    conversion.to_memory(external.data(), got, back.data());
    RC_ASSERT(std::equal(back.begin(), back.end(), packed.begin()));
}

}  // namespace
}  // namespace sluice::external32_test
