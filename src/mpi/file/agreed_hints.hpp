// These functions turn the hints of rank 0 that place aggregators into ranks, the same on all
// ranks.
#pragma once
#include "mpi/communicator/team.hpp"
#include "settings/file_hints.hpp"

namespace sluice {

/// Takes over hints of the system's file, which rank 0 has read, but for sluice_page_cache: files
/// are opened before it is known to all ranks.
void hear_system_hints(FileHints& hints, std::string const& text);

/// The ranks that rank 0's placement chooses; empty where it cannot be obeyed, which rank 0 tells.
/// Collective.
[[nodiscard]] std::vector<Rank> agreed_aggregators(Placement const& placement, Team const& team);

}  // namespace sluice
