// These functions choose what serves a file: the process's pool of storage threads, its io_uring,
// or the MPI; and with SLUICE_TEST an emulated device.
#pragma once
#include "mpi/communicator/team.hpp"
#include "settings/file_hints.hpp"
#include "storage/mpi_file.hpp"

namespace sluice {

/// `auto` said in full: what measured best. What the system refuses is `threads`.
[[nodiscard]] FileHints with_engine(FileHints hints);

/// The path is the name without the prefix that names a driver of the MPI ("ufs:data"). Messages
/// say it independent of the working folder.
[[nodiscard]] FileNames names_of(std::string const& name);

[[nodiscard]] AccessMode access_mode(int amode) noexcept;

/// `file` is open where the names have a path. The MPI opens it too where it is to move the bytes:
/// by a name that leads to nothing but this file. `hints` name an engine that is granted.
[[nodiscard]] std::unique_ptr<StoredFile> stored_file(FileNames const& names, OpenedFile file,
                                                      int amode, FileHints const& hints,
                                                      Team const& team);

/// The threads of this process that wait for devices.
[[nodiscard]] WorkerPool& storage_threads();

/// Seconds of processor time that this process's storage threads have used.
[[nodiscard]] double storage_seconds();

}  // namespace sluice
