// What of a file's name goes to a terminal, and into JSON.
#include "base/printable.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sluice::printable_test {
namespace {

TEST(Printable, LeavesTextAsItIs) {
    EXPECT_EQ(printable("/scratch/a b-\xc3\xbc\xe2\x82\xac.nc"),
              "/scratch/a b-\xc3\xbc\xe2\x82\xac.nc");
}

TEST(Printable, ShowsOrdersToATerminalAsNumbers) {
    EXPECT_EQ(printable("a\x1b]0;title\x07"), "a\\x1b]0;title\\x07");
    EXPECT_EQ(printable("a\nsluice: all is well\r"), "a\\x0asluice: all is well\\x0d");
    EXPECT_EQ(printable("\x7f\xc2\x9b"
                        "31m"),
              "\\x7f\\x9b31m");
    EXPECT_EQ(printable(std::string_view("\0\xc2", 2)), "\\x00\xc2");
}

RC_GTEST_PROP(Printable, HasNoControlCharacters, (std::string const& text)) {
    auto const shown = printable(text);
    RC_ASSERT(std::ranges::none_of(
        shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
    RC_ASSERT(printable(shown) == shown);
    RC_ASSERT(shown.size() >= text.size());
}

TEST(QuotedForJson, EscapesWhatJsonDoes) {
    EXPECT_EQ(quoted_for_json("a\"b\\c\nd\xc3\xbc"), "\"a\\\"b\\\\c\\u000ad\xc3\xbc\"");
    EXPECT_EQ(quoted_for_json(""), "\"\"");
}

}  // namespace
}  // namespace sluice::printable_test
