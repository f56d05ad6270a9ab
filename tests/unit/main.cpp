// The program of unit tests:
//   unit_pure [FILE ...] [--gtest_...]    the tests of these files (plan_test), or of all
// All files are in one program so that several are compiled together: templates of the tests are
// most of their build. CTest still runs each file by itself: what a test does to its process
// (limits, signals, children) reaches no other file.
#include "drawn.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace {

using Names = std::set<std::string>;

/// The file of a test, as the arguments name it.
std::string file_of(testing::TestInfo const& test) {
    return std::filesystem::path(test.file()).stem().string();
}

/// What a filter of googletest has to leave out of a suite for the tests of other files; notes in
/// `found` the files that it has tests of. A suite may have tests in several files.
std::string left_out(testing::TestSuite const& suite, Names const& files, Names& found) {
    std::string single;
    int count = 0;
    for (int i = 0; i < suite.total_test_count(); ++i) {
        auto const& test = *suite.GetTestInfo(i);
        if (files.contains(file_of(test))) {
            found.insert(file_of(test));
        } else {
            single += std::string(":") + suite.name() + "." + test.name();
            ++count;
        }
    }
    return count == suite.total_test_count() ? std::string(":") + suite.name() + ".*" : single;
}

/// Leaves only the tests of these files in the filter; false where a file has none, so that no
/// test is believed to have passed which is not there.
bool keep_only(Names const& files) {
    std::string others;
    Names found;
    auto const& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i)
        others += left_out(*all.GetTestSuite(i), files, found);
    for (std::string const& file : files) {
        if (found.contains(file)) continue;
        std::fprintf(stderr, "unit tests: no test of a file %s is in this program\n", file.c_str());
        return false;
    }
    std::string& filter = testing::GTEST_FLAG(filter);
    if (filter.find('-') == std::string::npos) filter += "-";
    filter += others;
    return true;
}

/// Properties, other random tests and their order follow from one seed, which repeats them all.
void draw_seed() {
    unsigned const seed = sluice::testing::run_seed();
    std::printf("seed %u (SLUICE_TEST_SEED=%u does the same again)\n", seed, seed);
    std::fflush(stdout);
    std::string const less =
        sluice::testing::is_sample() ? " max_success=25 max_discard_ratio=50" : "";
    // The order of tests says which cases a sample has.
    testing::GTEST_FLAG(random_seed) = static_cast<int>(seed % 99'999) + 1;
    setenv("RC_PARAMS", ("seed=" + std::to_string(seed) + less).c_str(), 0);
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    Names const files(argv + 1, argv + argc);
    if (!files.empty() && !keep_only(files)) return 2;
    draw_seed();
    return RUN_ALL_TESTS();
}
