// Rank 0 finds and reads the machine's profile for a file, and all ranks get the same one. It is
// kept by its contents, so that the next file of the same machine costs no message.
#pragma once
#include "base/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

class Team;

/// What rank 0 tells of it with the hints; trivially copyable.
struct ProfileOffer {
    std::int32_t number = 0;  ///< Of the text, among those of rank 0's process; 0: no profile.
    std::int32_t bytes = 0;   ///< Of the text.
};

/// The profiles that all ranks of a team have heard of, by number.
using KnownProfiles = std::map<std::int32_t, std::shared_ptr<MachineProfile const>>;

/// On rank 0: the profile for a path that exists, by SLUICE_PROFILE. What cannot be read or
/// understood is warned of once, and there is none. `device`: where the path is, if that is known.
[[nodiscard]] ProfileOffer offer_profile(std::string const& path,
                                         std::optional<std::uint64_t> device = std::nullopt);

/// The profile that rank 0 offers; null where it offers none. One broadcast where the team has not
/// heard of it yet. Collective.
[[nodiscard]] std::shared_ptr<MachineProfile const> take_profile(ProfileOffer const& offer,
                                                                 Team& team);

}  // namespace sluice
