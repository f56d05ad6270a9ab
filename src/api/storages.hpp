// What serves the files of this process: one pool of threads, at most one ring, maybe an emulated
// device; and which of them a file gets.
#pragma once
#include "api/team.hpp"
#include "core/settings.hpp"
#include "ports/mpi_file.hpp"

namespace sluice {

/// `auto` said in full: what measured best. What the system refuses is `threads`.
[[nodiscard]] FileHints with_engine(FileHints hints);

/// The path is the name without the prefix that names a driver of the MPI ("ufs:data"). What a path
/// says is made independent of the working folder, as it may be opened later.
[[nodiscard]] FileNames names_of(std::string const& name);

/// The file is opened when its first transfer needs it. `hints` name an engine that is granted.
[[nodiscard]] std::unique_ptr<StoredFile> stored_file(FileNames const& names, int amode,
                                                      FileHints const& hints, Team const& team);

/// Seconds of processor time that this process's storage threads have used.
[[nodiscard]] double storage_seconds();

}  // namespace sluice
