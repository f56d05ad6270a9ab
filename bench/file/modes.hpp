// What a program of the bench of files can measure: sluice-bench what a user asks for, and the
// program of the study of the papers (study/file) what that needs beside it.
#pragma once
#include <map>
#include <string>

#include "bench/measure/bench.hpp"

namespace CLI {
class App;
}

namespace sluice::bench {

struct Mode {
    void (*run)(Run&);
    bool is_long = false;    ///< Left out where all modes are asked for.
    bool on_device = false;  ///< Its buffers may be on a GPU.
};

[[nodiscard]] std::map<std::string, Mode> modes();
[[nodiscard]] char const* mode_help();

/// As a user calls it.
[[nodiscard]] char const* program_name();

/// Options that the program has beside those of Options.
void declare_more(CLI::App& app);

}  // namespace sluice::bench
