// Mode domains: one access with each way to divide the file among aggregators, with the ranks in
// groups in its place (dynamic segmentation), and with no exchange at all; on the same engine, in
// turn. Beside them the library's own choice and the MPI's own call.
#include "exchange.hpp"

namespace sluice::bench {
namespace {

Variant division(std::string const& name, std::vector<std::string> more = {}) {
    std::vector<std::string> hints{"sluice_domains=" + name, "romio_cb_write=enable",
                                   "romio_cb_read=enable"};
    std::string full = name;
    for (auto const& hint : more) full += ", " + hint;
    hints.insert(hints.end(), more.begin(), more.end());
    return {full, "-", hints};
}

std::vector<Variant> variants_of(Run const& run) {
    std::vector<Variant> variants{{library_chooses, "-", {}}};
    for (auto const* const name : {"even", "cyclic", "balanced", "groups"})
        variants.push_back(division(name));
    variants.push_back(division("groups", {"sluice_groups=2"}));
    variants.push_back({"none", "-", {"romio_cb_write=disable", "romio_cb_read=disable"}});
    if (!run.options.no_peer) variants.push_back({own_calls, "-", {"sluice=disable"}});
    return variants;
}

}  // namespace

void mode_domains(Run& run) { measure_variants(run, {"domains", "division"}, variants_of(run)); }

}  // namespace sluice::bench
