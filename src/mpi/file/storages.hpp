// These functions make what serves a file, with the process's pool of storage threads; and with
// SLUICE_TEST an emulated device.
#pragma once
#include "mpi/communicator/team.hpp"
#include "settings/file_hints.hpp"
#include "storage/posix.hpp"

#include <optional>

namespace sluice {

/// The name without the prefix that names a driver of the MPI ("ufs:data"), independent of the
/// working folder. Nothing: only that driver reaches the file.
[[nodiscard]] std::optional<std::string> path_of(std::string const& name);

[[nodiscard]] AccessMode access_mode(int amode) noexcept;

/// `file` is open.
[[nodiscard]] std::unique_ptr<StoredFile> stored_file(std::string const& path, OpenedFile file,
                                                      int amode, FileHints const& hints);

/// The threads of this process that wait for devices.
[[nodiscard]] WorkerPool& storage_threads();

/// Seconds of processor time that this process's storage threads have used.
[[nodiscard]] double storage_seconds();

}  // namespace sluice
