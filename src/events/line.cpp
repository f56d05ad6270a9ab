// How lines are written. See line.hpp.
#include "events/line.hpp"

#include <array>
#include <charconv>

namespace sluice::record {
namespace {

constexpr std::string_view makers[] = {"element",        "dup",       "contiguous", "vector",
                                       "hvector",        "indexed",   "hindexed",   "indexed_block",
                                       "hindexed_block", "structure", "subarray",   "darray",
                                       "resized"};
constexpr std::string_view forms[] = {"unknown",
                                      "bytes",
                                      "number_2",
                                      "number_4",
                                      "number_8",
                                      "number_16",
                                      "long_integer",
                                      "unsigned_long",
                                      "wide_character",
                                      "long_double",
                                      "complex_4",
                                      "complex_8",
                                      "complex_16",
                                      "complex_long_double",
                                      "value_2_and_int",
                                      "value_4_and_int",
                                      "value_8_and_int",
                                      "long_and_int",
                                      "long_double_and_int"};

bool separates(char c) noexcept {
    auto const code = static_cast<unsigned char>(c);
    return code <= ' ' || code == 127 || c == '%' || c == '=';
}

int digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

std::string encoded(std::string_view value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string word;
    for (char const c : value) {
        if (!separates(c)) {
            word.push_back(c);
            continue;
        }
        auto const code = static_cast<unsigned char>(c);
        word += {'%', digits[code >> 4U], digits[code & 15U]};
    }
    return word;
}

std::string decoded(std::string_view word) {
    std::string value;
    for (std::size_t i = 0; i < word.size(); ++i) {
        bool const is_code = word[i] == '%' && i + 2 < word.size() && digit_of(word[i + 1]) >= 0 &&
                             digit_of(word[i + 2]) >= 0;
        value.push_back(is_code
                            ? static_cast<char>(digit_of(word[i + 1]) * 16 + digit_of(word[i + 2]))
                            : word[i]);
        if (is_code) i += 2;
    }
    return value;
}

void LineWriter::digits(std::int64_t value) {
    std::array<char, 20> text;
    auto const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    to_.append(text.data(), end);
}

void LineWriter::begin(std::string_view key) {
    to_.push_back(' ');
    to_.append(key);
    to_.push_back('=');
}

LineWriter& LineWriter::number(std::int64_t value) {
    to_.push_back(' ');
    digits(value);
    return *this;
}

LineWriter& LineWriter::field(std::string_view key, std::int64_t value) {
    begin(key);
    digits(value);
    return *this;
}

LineWriter& LineWriter::field(std::string_view key, std::string_view value) {
    begin(key);
    to_.append(encoded(value));
    return *this;
}

void write_type_tree(LineWriter& line, TypeTree const& type_tree,
                     std::span<std::int64_t const> parts) {
    bool const is_element = type_tree.maker == Maker::element;
    line.field("maker", makers[static_cast<std::size_t>(type_tree.maker)]);
    if (is_element) line.field("form", forms[static_cast<std::size_t>(type_tree.form)]);
    if (is_element) line.field("element", type_tree.size);
    if (type_tree.short_int) line.field("gap", 1);
    if (!type_tree.c_order) line.field("order", "fortran");
    if (type_tree.bounded) line.field("lower", type_tree.lower).field("upto", type_tree.extent);
    line.list("ints", std::span<int const>(type_tree.ints));
    line.list("places", std::span<std::int64_t const>(type_tree.places));
    line.list("counts", std::span<std::int64_t const>(type_tree.counts));
    line.list("parts", parts);
    line.list("which", std::span<std::uint32_t const>(type_tree.which));
}

std::span<std::string_view const> maker_words() noexcept { return makers; }
std::span<std::string_view const> form_words() noexcept { return forms; }

}  // namespace sluice::record
