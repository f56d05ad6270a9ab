// Mode domains: one access with each way to divide the file among aggregators, with the ranks in
// groups in its place (dynamic segmentation), and with no exchange at all; on the same engine, in
// turn. Beside them the library's own choice and the MPI's own call.
#include "exchange.hpp"

namespace sluice::bench {
namespace {

/// "groups:2" of the command line, as hints.
Variant division(std::string const& words) {
    if (words == "none") return {words, "-", {"romio_cb_write=disable", "romio_cb_read=disable"}};
    auto const colon = words.find(':');
    std::vector<std::string> hints{"sluice_domains=" + words.substr(0, colon),
                                   "romio_cb_write=enable", "romio_cb_read=enable"};
    if (colon != std::string::npos) hints.push_back("sluice_groups=" + words.substr(colon + 1));
    return {words, "-", hints};
}

std::vector<Variant> variants_of(Run const& run) {
    std::vector<Variant> variants{{library_chooses, "-", {}}};
    for (auto const& words : run.options.divisions) variants.push_back(division(words));
    if (!run.options.no_peer) variants.push_back({own_calls, "-", {"sluice=disable"}});
    return variants;
}

}  // namespace

void mode_domains(Run& run) { measure_variants(run, {"domains", "division"}, variants_of(run)); }

}  // namespace sluice::bench
