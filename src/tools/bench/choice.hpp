// Mode choice: names of its contenders, and its report. See mode_choice.cpp, choice_report.cpp.
#pragma once
#include "exchange.hpp"

namespace sluice::bench {

constexpr char const* always_collective = "collective";
constexpr char const* always_independent = "independent";

/// A line for each candidate, and the verdict on the library's own choice.
void report_choice(Run& run, Exchanged const& exchanged);

}  // namespace sluice::bench
