// What ranks must know alike of a file's hints when it is opened: rank 0's, and what the file
// system says to it.
#pragma once
#include "api/team.hpp"
#include "core/settings.hpp"

namespace sluice {

/// Takes from rank 0 what ranks could not otherwise do the same: one broadcast. `path` is asked
/// for its stripes there, where no hint tells them. Returns whether rank 0 has a placement of
/// aggregators. Collective over the team's communicator.
bool take_from_rank_0(FileHints& hints, Team const& team, std::string const& path);

/// The ranks that rank 0's placement chooses; empty where it cannot be obeyed, which rank 0 tells.
/// Collective.
[[nodiscard]] std::vector<Rank> agreed_aggregators(Placement const& placement, Team const& team);

/// Whether all ranks say so. Collective.
[[nodiscard]] bool everywhere(bool here, Team const& team);

}  // namespace sluice
