// How hints are read from an info object, and kept from the MPI. See info_hints.hpp.
#include "mpi/file/info_hints.hpp"

#include "mpi/file/file.hpp"
#include "system/log.hpp"

namespace sluice {
namespace {

std::vector<std::string> names_in(MPI_Info info) {
    std::vector<std::string> names;
    int count = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        char name[MPI_MAX_INFO_KEY + 1] = "";
        if (PMPI_Info_get_nthkey(info, i, name) == MPI_SUCCESS) names.emplace_back(name);
    }
    return names;
}

Lookup lookup_in(MPI_Info info) {
    return [info](char const* name) -> std::optional<std::string> {
        if (info == MPI_INFO_NULL) return std::nullopt;
        char value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get(info, const_cast<char*>(name), MPI_MAX_INFO_VAL, value, &found);
        return found ? std::optional<std::string>(value) : std::nullopt;
    };
}

}  // namespace

OwnHints::OwnHints(MPI_Info given, FileHints before) : hints(std::move(before)), for_mpi(given) {
    if (given == MPI_INFO_NULL) return;
    for (auto const& one : unknown_hints(names_in(given))) warn("hint " + one.text);
    std::vector<Complaint> complaints;
    hints = read_hints(lookup_in(given), hints, complaints);
    if (complaints.empty() && !hints.automatic_stripes) return;
    PMPI_Info_dup(given, &copy_);
    for_mpi = copy_;
    // Not a number.
    if (hints.automatic_stripes && lookup_in(copy_)("striping_factor"))
        PMPI_Info_delete(copy_, "striping_factor");
    for (auto const& complaint : complaints) {
        warn("hint " + complaint.text);
        PMPI_Info_delete(copy_, complaint.name.c_str());
    }
}

OwnHints::~OwnHints() {
    if (copy_ != MPI_INFO_NULL) PMPI_Info_free(&copy_);
}

ExactHints::ExactHints(MPI_Info given) {
    copy(given);
    PMPI_Info_set(info_, "romio_ds_write", "disable");
}

ExactHints::ExactHints(MPI_Info given, File const& file) {
    // The last one would turn collective buffering on again.
    constexpr std::pair<char const*, char const*> exact[] = {{"romio_ds_write", "disable"},
                                                             {"romio_cb_write", "disable"},
                                                             {"romio_no_indep_rw", "false"}};
    bool const first = !file.exact;
    if (!first && given == MPI_INFO_NULL) return;
    copy(given);
    for (auto const& [name, value] : exact) {
        int found = 0, length = 0;
        if (first)
            PMPI_Info_set(info_, name, value);
        else if (PMPI_Info_get_valuelen(info_, name, &length, &found) == MPI_SUCCESS && found)
            PMPI_Info_delete(info_, name);
    }
}

void ExactHints::copy(MPI_Info given) {
    if (given == MPI_INFO_NULL)
        PMPI_Info_create(&info_);
    else
        PMPI_Info_dup(given, &info_);
}

ExactHints::~ExactHints() {
    if (info_ != MPI_INFO_NULL) PMPI_Info_free(&info_);
}

}  // namespace sluice
