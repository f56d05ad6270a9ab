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

/// The communicator's topology is not known yet: if all nodes have as many ranks as this one. One
/// where the launcher does not tell.
std::int32_t nodes_of(Rank ranks) noexcept {
    Launch const by = launched();
    if (by.ranks <= 0) return 1;
    auto const each = std::max<Rank>(static_cast<Rank>(by.sharing_node()), 1);
    return (ranks + each - 1) / each;
}

/// None where no hint says how many servers: a length alone is for the borders of file domains.
Striping wanted_stripes(FileHints const& hints, Rank ranks) noexcept {
    if (hints.automatic_stripes)
        return {hints.plan.stripe_bytes, servers_usual(ranks, nodes_of(ranks))};
    if (hints.plan.stripe_count == 0) return {};
    return {hints.plan.stripe_bytes, hints.plan.stripe_count};
}

/// Arguments that the MPI refuses must leave no file.
bool makes_file(int amode) noexcept {
    bool const writes = (amode & MPI_MODE_WRONLY) != 0, both = (amode & MPI_MODE_RDWR) != 0;
    bool const in_order = (amode & MPI_MODE_SEQUENTIAL) != 0;
    return (amode & MPI_MODE_CREATE) != 0 && (amode & MPI_MODE_RDONLY) == 0 && writes != both &&
           !(in_order && both);
}

/// It asks for stripes by itself, also of kinds that are not known here.
bool has_driver(MPI_Info given) {
    constexpr char const* own[] = {
        "romio_lustre_start_iodevice", "start_iodevice", "romio_lustre_overstriping",
        "overstriping_factor",         "stripe_size",    "stripe_width"};
    return std::ranges::any_of(own, [&](char const* name) {
        int length = 0, found = 0;
        if (given != MPI_INFO_NULL) PMPI_Info_get_valuelen(given, name, &length, &found);
        return found != 0;
    });
}

/// The ranks of `communicator` where this is its rank 0; else 0.
Rank ranks_if_first(MPI_Comm communicator) {
    int between = 0, rank = 0, ranks = 0;
    if (communicator == MPI_COMM_NULL) return 0;
    PMPI_Comm_test_inter(communicator, &between);
    PMPI_Comm_rank(communicator, &rank);
    if (between != 0 || rank != 0) return 0;
    PMPI_Comm_size(communicator, &ranks);
    return ranks;
}

}  // namespace

void stripe_new_file(MPI_Comm communicator, char const* name, int amode, MPI_Info given,
                     FileHints const& own) {
    Rank const ranks = makes_file(amode) && name != nullptr ? ranks_if_first(communicator) : 0;
    if (ranks == 0) return;
    FileHints hints = own;
    hear_system_hints(hints, system_hints());
    Striping const wanted = wanted_stripes(hints, ranks);
    if (wanted == Striping{} || hints.disabled || has_driver(given)) return;
    auto const path = path_of(name);
    SystemAttributes attributes(0);
    if (!path || !can_be_striped(*path, attributes)) return;
    if ((amode & MPI_MODE_EXCL) != 0)
        return warn(*path + ": Sluice asks for no stripes where MPI_MODE_EXCL is given: the MPI "
                            "has to make the file");
    if (Error const error = make_striped(*path, wanted, attributes))
        warn(*path + ": it does not have the stripes of striping_factor and striping_unit: " +
             describe(error));
}

}  // namespace sluice
