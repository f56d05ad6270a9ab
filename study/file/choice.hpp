// Mode choice: names of its contenders, and its report. See mode_choice.cpp, choice_report.cpp.
#pragma once
#include "study/file/exchange.hpp"

namespace sluice::bench {

constexpr char const* always_collective = "collective";
constexpr char const* always_independent = "independent";

/// "even 2x1M": two aggregators with windows of 1 MiB.
std::string name_of(std::string const& division, std::uint64_t aggregators, std::uint64_t window);

/// A line for each candidate, and the verdict on the library's own choice.
void report_choice(Run& run, Exchanged const& exchanged);

}  // namespace sluice::bench
