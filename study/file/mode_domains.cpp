// Mode domains: one access with each way to divide the file among aggregators, with the ranks in
// groups in its place (dynamic segmentation), and with no exchange at all; on the same engine, in
// turn. Beside them the library's own choice and the MPI's own call.
#include "study/file/exchange.hpp"

namespace sluice::bench {
namespace {

std::vector<std::string> const all_divisions{"even",   "cyclic",   "balanced",
                                             "groups", "groups:2", "none"};

std::vector<Variant> divisions_of_file(Run const& run) {
    std::vector<Variant> variants{{library_chooses, "-", {}}};
    auto const& asked = study_options().divisions;
    for (auto const& words : asked.empty() ? all_divisions : asked)
        variants.push_back({words, "-", division_hints(words)});
    if (!run.options.no_peer) variants.push_back({own_calls, "-", {"sluice=disable"}});
    return variants;
}

}  // namespace

void mode_domains(Run& run) {
    measure_variants(run, {"domains", "division"}, divisions_of_file(run));
}

}  // namespace sluice::bench
