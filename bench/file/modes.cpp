// The modes of sluice-bench.
#include "bench/file/modes.hpp"

namespace sluice::bench {

std::map<std::string, Mode> modes() {
    constexpr bool is_long = true, on_device = true;
    return {{"blocking", {mode_blocking, false, on_device}},
            {"nonblocking", {mode_nonblocking, false, on_device}},
            {"independent", {mode_independent, false, on_device}},
            {"small", {mode_small}},
            {"open", {mode_open}},
            {"memory", {mode_memory}},
            {"overlap", {mode_overlap, false, on_device}},
            {"outstanding", {mode_outstanding, false, on_device}},
            {"checkpoint", {mode_checkpoint}},
            {"steps", {mode_steps, is_long}},
            {"compare", {mode_compare, is_long, on_device}}};
}

char const* mode_help() {
    return "blocking (the default), nonblocking, independent, small, open, memory, overlap, "
           "outstanding, checkpoint, steps, compare, or all but the last two";
}

char const* program_name() { return "sluice bench"; }

void declare_more(CLI::App&) {}

}  // namespace sluice::bench
