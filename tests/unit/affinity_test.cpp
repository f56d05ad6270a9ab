// Lists of cores, what SLUICE_AFFINITY means, and where threads may then run.
#include "base/affinity.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace sluice::affinity_test {
namespace {

Cores cores(std::string const& text) { return parse_cores(text).value_or(Cores{}); }

TEST(ParseCores, ListsAndRanges) {
    EXPECT_EQ(cores("0").text(), "0");
    EXPECT_EQ(cores("2,4-7").text(), "2,4-7");
    EXPECT_EQ(cores("7,4,5,6,2").text(), "2,4-7");
    EXPECT_EQ(cores("1-3,2-5").count(), 5);
    EXPECT_EQ(cores("63-64").text(), "63-64");
    EXPECT_EQ(cores("4095").text(), "4095");
    EXPECT_EQ(cores("0-4095").count(), Cores::most);
}

TEST(ParseCores, RefusesNonsense) {
    for (char const* const text :
         {"",    " ",     ",",   "-",    "1,",    ",1",     "1,,2",
          "1-",  "-1",    "3-2", "1--2", "1-2-3", "1 2",    "1, 2",
          "0x1", "1-2:2", "+1",  "all",  "4096",  "0-4096", "99999999999999999999",
          "1\n", "2;4"}) {
        EXPECT_FALSE(parse_cores(text).has_value()) << text;
    }
}

RC_GTEST_PROP(ParseCores, ReadsWhatIsWritten, (std::set<std::uint16_t> const& numbers)) {
    Cores all;
    for (auto const number : numbers) all.add(number % Cores::most);
    RC_ASSERT(cores(all.text()) == all);
}

TEST(ParseAffinity, WordsAndLists) {
    EXPECT_EQ(parse_affinity("inherit"), Affinity{});
    EXPECT_EQ(parse_affinity("spread")->way, Affinity::Way::spread);
    auto const list = parse_affinity("1,3");
    ASSERT_TRUE(list.has_value());
    EXPECT_EQ(list->way, Affinity::Way::list);
    EXPECT_EQ(list->list, cores("1,3"));
    for (char const* const text : {"", "Spread", "spread ", "inherit,1", "none", "1;2"}) {
        EXPECT_FALSE(parse_affinity(text).has_value()) << text;
    }
}

Cores chosen(char const* affinity, char const* allowed, char const* online, char const* taken) {
    return choose_cores(parse_affinity(affinity).value_or(Affinity{}),
                        {cores(allowed), cores(online), cores(taken)});
}

TEST(ChooseCores, InheritIsTheProcessOwn) {
    EXPECT_EQ(chosen("inherit", "2-3", "0-7", "0-3").text(), "2-3");
    EXPECT_TRUE(chosen("inherit", "", "0-7", "0-3").empty());
}

TEST(ChooseCores, SpreadKeepsOffTheRanks) {
    EXPECT_EQ(chosen("spread", "2", "0-7", "0-3").text(), "4-7");
    EXPECT_EQ(chosen("spread", "0-7", "0-15", "0-3").text(), "4-7") << "the process's own first";
    EXPECT_EQ(chosen("spread", "1", "0-1", "0-1").text(), "1") << "no other core";
    EXPECT_EQ(chosen("spread", "1", "0-7", "").text(), "1") << "the ranks' cores are not known";
    EXPECT_EQ(chosen("spread", "1", "", "0-1").text(), "1") << "the machine's are not known";
}

TEST(ChooseCores, AListIsWhatIsThereOfIt) {
    EXPECT_EQ(chosen("6-9", "0", "0-7", "0").text(), "6-7");
    EXPECT_EQ(chosen("8,9", "0", "0-7", "0").text(), "0");
    EXPECT_EQ(chosen("8,9", "0", "", "0").text(), "8-9");
}

}  // namespace
}  // namespace sluice::affinity_test
