// What was measured: the profile's file, and a short table for people. Rank 0 alone.
#pragma once
#include "tools/calibrate/calibrate.hpp"

namespace sluice::calibrate {

/// Where the profile goes; ends the job where it could not be written there.
[[nodiscard]] std::string out_path(Options const& options);

/// Host, date, file system, ranks and nodes, page cache: the profile's `measured`.
[[nodiscard]] std::string measured_where(Job const& job, StorageFacts const& facts);

/// Takes the place of the file at once, or not at all.
void write_profile(MachineProfile const& profile, std::string const& path);

void print_report(Job const& job, StorageFacts const& facts, MachineProfile const& profile,
                  std::string const& path);

}  // namespace sluice::calibrate
