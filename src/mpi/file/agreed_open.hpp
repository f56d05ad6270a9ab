// When a file is opened, the ranks find out together whether all of them hold the very file that
// the MPI has opened, what the hints of rank 0 are, and what the file system tells rank 0.
#pragma once
#include "mpi/communicator/team.hpp"
#include "mpi/file/storages.hpp"

namespace sluice {

class OrderedCalls;

/// A file as this rank holds it.
struct OwnFile {
    OwnFile(std::string const& mpi_name, int amode, FileHints const& hints, Team const& team);

    std::unique_ptr<StoredFile> storage;
    std::string name;          ///< For messages.
    bool has_path = false;     ///< False: only a driver of the MPI reaches it.
    int fd = -1;               ///< Of the storage; none where it is not open.
    Error error;               ///< Why the storage is not open.
    FileIdentity identity;     ///< Where there is a descriptor.
    bool held_by_mpi = false;  ///< The process has the same file by another descriptor, too.
    Consistency consistency = Consistency::posix;  ///< Of what is written to it, if anything is.
    std::uint64_t number = 0;                      ///< As all ranks agreed.
    bool tells_late = false;                       ///< The same: see AgreedOpen.
    std::shared_ptr<OrderedCalls> order;           ///< See introduce_keepers().
};

struct AgreedOpen {
    char const* refusal = nullptr;  ///< Why the MPI serves the file; null: it need not.
    bool placed = false;            ///< Rank 0 has a placement of aggregators.
    /// Tells this opening from others that may be open at the same time; the same on all ranks.
    std::uint64_t number = 0;
    std::shared_ptr<MachineProfile const> machine;
    bool closed_are_many = false;  ///< See complete_closed().
    bool tells_late = false;       ///< Errors of writes may come with the close.
    bool past_cache = false;       ///< Some rank uses direct I/O.
};

/// Takes from rank 0 what ranks could not otherwise do the same, and sees to it that all have the
/// same file: one reduction, and a broadcast for a profile of the machine that the team has not
/// heard of. Why a file is not served is the same on all ranks, and is told by one of them where
/// nobody asked for it. Collective over the team's communicator.
[[nodiscard]] AgreedOpen agree_at_open(FileHints& hints, Team& team, OwnFile const& file);

}  // namespace sluice
