// `sluice merge-trace`: the parts of a trace that a job left become one file, as MPI_Finalize would
// have made it.
#include "system/trace_file.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"

#include <cstdio>

namespace sluice {

int command_merge_trace(int argc, char** argv) {
    if (argc > 0 && argv[0][0] == '-') return no_such_option("merge-trace", argv[0], "");
    if (argc != 1) {
        std::fprintf(stderr, "usage: sluice merge-trace FILE\n");
        return bad_usage;
    }
    std::string const file = argv[0];
    auto const merged = merge_trace(file);
    if (!merged.error.empty()) {
        std::fprintf(stderr, "sluice merge-trace: %s\n", merged.error.c_str());
        return 1;
    }
    std::fprintf(stderr, "sluice: merged the parts of %s into %s\n",
                 ranks_in_words(merged.ranks).c_str(), file.c_str());
    return 0;
}

}  // namespace sluice
