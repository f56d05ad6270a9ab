// What ranks must know alike of a file's hints when it is opened: rank 0's, and what the file
// system says to it.
#pragma once
#include "api/team.hpp"
#include "core/settings.hpp"

namespace sluice {

/// What rank 0 says beside hints.
struct FromRank0 {
    bool placed = false;  ///< It has a placement of aggregators.
    std::shared_ptr<MachineProfile const> machine;
};

/// Takes from rank 0 what ranks could not otherwise do the same: one broadcast, and another for a
/// profile of the machine that the team has not heard of. `path` is asked for its stripes there,
/// where no hint tells them. Collective over the team's communicator.
FromRank0 take_from_rank_0(FileHints& hints, Team& team, std::string const& path);

/// The ranks that rank 0's placement chooses; empty where it cannot be obeyed, which rank 0 tells.
/// Collective.
[[nodiscard]] std::vector<Rank> agreed_aggregators(Placement const& placement, Team const& team);

/// Whether all ranks say so. Collective.
[[nodiscard]] bool everywhere(bool here, Team const& team);

}  // namespace sluice
