// Nonblocking collectives against the MPI's own blocking ones, byte for byte: random kinds, sizes,
// datatypes, operations, communicators and topologies, several under way at once. What a seed gives
// is the same on every machine; a failure names its case with all its arguments.
//   collectives_test --seed N --cases N [--break] [--no-messages]
#include "collective_aliases.hpp"
#include "collective_batch.hpp"
#include "collective_legal.hpp"
#include "collective_names.hpp"
#include "collective_results.hpp"
#include "sluice/sluice.h"

namespace {

using namespace collective_test;

struct Chosen {
    std::uint64_t seed = 1;
    int cases = 40;  ///< Of each way: batches of up to six calls.
    bool breaks = false;
    bool no_messages = false;  ///< No message of the MPI's is needed for nonblocking collectives.
};

/// Takes the options of this program out of the arguments.
Chosen take_options(int& argc, char** argv) {
    Chosen chosen;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        std::string_view const name = argv[i];
        if (name == "--break")
            chosen.breaks = true;
        else if (name == "--no-messages")
            chosen.no_messages = true;
        else if (name == "--seed" && i + 1 < argc)
            chosen.seed = std::stoull(argv[++i]);
        else if (name == "--cases" && i + 1 < argc)
            chosen.cases = std::stoi(argv[++i]);
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
    return chosen;
}

void differential(Chosen const& chosen, Way way) {
    Places const places(chosen.seed);
    auto const shift = static_cast<std::int64_t>(way) * 1'000'000;
    for (int i = 0; i < chosen.cases; ++i) {
        Batch(chosen.seed, shift + i, places, way, chosen.breaks).run();
        if (check::state().failures > 0 && check::state().options.verbose) break;
    }
}

}  // namespace

int main(int argc, char** argv) {
    Chosen const chosen = take_options(argc, argv);
    return check::run_suite(argc, argv, "collectives_test", [&] {
        std::vector<check::Test> tests;
        for (Way const way : {Way::interposed, Way::own, Way::persistent}) {
            tests.push_back({std::string("differential/") + way_names[static_cast<int>(way)],
                             [&chosen, way] { differential(chosen, way); }});
        }
        for (auto& test : legal_tests()) tests.push_back(std::move(test));
        for (auto& test : alias_tests()) tests.push_back(std::move(test));
        for (auto& test : result_tests()) tests.push_back(std::move(test));
        for (auto& test : name_tests(chosen.no_messages)) tests.push_back(std::move(test));
        return tests;
    });
}
