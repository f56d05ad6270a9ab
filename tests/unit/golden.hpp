// Text that is looked at when it changes.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::testing {

/// Compares with a file in tests/golden; SLUICE_UPDATE_GOLDEN=1 rewrites it instead.
inline void expect_golden(std::string const& name, std::string const& text) {
    std::string const path = std::string(SLUICE_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("SLUICE_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream file(path);
    std::string const golden{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(golden, text) << "if this is wanted: SLUICE_UPDATE_GOLDEN=1 make test-unit";
}

}  // namespace sluice::testing
