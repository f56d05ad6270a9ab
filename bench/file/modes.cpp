// The modes of sluice-bench.
#include "bench/file/modes.hpp"

namespace sluice::bench {

std::map<std::string, Mode> modes() {
    constexpr bool is_long = true;
    return {{"blocking", {mode_blocking}},
            {"nonblocking", {mode_nonblocking}},
            {"independent", {mode_independent}},
            {"small", {mode_small}},
            {"open", {mode_open}},
            {"memory", {mode_memory}},
            {"overlap", {mode_overlap}},
            {"outstanding", {mode_outstanding}},
            {"checkpoint", {mode_checkpoint}},
            {"steps", {mode_steps, is_long}},
            {"compare", {mode_compare, is_long}}};
}

char const* mode_help() {
    return "blocking (the default), nonblocking, independent, small, open, memory, overlap, "
           "outstanding, checkpoint, steps, compare, or all but the last two";
}

char const* program_name() { return "sluice bench"; }

void declare_more(CLI::App&) {}

}  // namespace sluice::bench
