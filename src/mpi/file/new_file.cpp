// How rank 0 makes a file of the stripes that its hints ask for. See new_file.hpp.
#include "mpi/file/new_file.hpp"

#include "file/plan/staging.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/agreed_hints.hpp"
#include "mpi/file/storages.hpp"
#include "mpi/file/system_hints.hpp"
#include "storage/file_striping.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// The communicator's topology is not known yet: if all nodes have as many ranks as this one.
std::int32_t nodes_of(Rank ranks) noexcept {
    auto const each = std::max<Rank>(static_cast<Rank>(launched().sharing_node()), 1);
    return (ranks + each - 1) / each;
}

Striping wanted_stripes(FileHints const& hints, Rank ranks) noexcept {
    return {hints.plan.stripe_bytes, hints.automatic_stripes ? servers_usual(ranks, nodes_of(ranks))
                                                             : hints.plan.stripe_count};
}

}  // namespace

void stripe_new_file(MPI_Comm communicator, char const* name, int amode, FileHints hints) {
    if ((amode & MPI_MODE_CREATE) == 0 || name == nullptr) return;
    int rank = 0, ranks = 0;
    if (PMPI_Comm_rank(communicator, &rank) != MPI_SUCCESS || rank != 0) return;
    if (PMPI_Comm_size(communicator, &ranks) != MPI_SUCCESS) return;
    hear_system_hints(hints, system_hints());
    Striping const wanted = wanted_stripes(hints, ranks);
    auto const path = path_of(name);
    SystemAttributes attributes(0);
    if (wanted == Striping{} || hints.disabled || !path || !can_be_striped(*path, attributes))
        return;
    if ((amode & MPI_MODE_EXCL) != 0)
        return warn(*path + ": striping_unit and striping_factor are not heard together with "
                            "MPI_MODE_EXCL; the new file is striped as its folder says");
    if (Error const error = make_striped(*path, wanted, attributes))
        warn(*path +
             ": it is striped as its folder says, not as striping_unit and striping_factor "
             "do: " +
             describe(error));
}

}  // namespace sluice
