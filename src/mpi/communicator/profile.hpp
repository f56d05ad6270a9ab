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

/// What rank 0 tells the other ranks about its profile; trivially copyable.
struct ProfileOffer {
    std::int32_t number = 0;  ///< Which of the texts of rank 0's process; 0: no profile.
    std::int32_t bytes = 0;   ///< Of the text.
};

/// The profiles that all ranks of a team have heard of, by number.
using KnownProfiles = std::map<std::int32_t, std::shared_ptr<MachineProfile const>>;

/// On rank 0: the profile for a path that exists, by SLUICE_PROFILE. A file that
/// cannot be read or understood brings one warning, and no profile. `device`: of the path, if it is
/// known.
[[nodiscard]] ProfileOffer offer_profile(std::string const& path,
                                         std::optional<std::uint64_t> device = std::nullopt);

/// The profile that rank 0 offers; null where it offers none. One broadcast where the team has not
/// heard of it yet. Collective.
[[nodiscard]] std::shared_ptr<MachineProfile const> take_profile(ProfileOffer const& offer,
                                                                 Team& team);

}  // namespace sluice
