// Files whose MPI_File_close has returned while writes that had been delayed were under way: hint
// sluice_close=behind. The MPI has closed them. Calls on other handles of the file wait for these
// writes as they do for those of an open handle. A closed file keeps its operation queue until all
// ranks have found it complete, which they tell each other when the next file is opened.
#pragma once
#include "mpi/file/file.hpp"

namespace sluice {

/// Closes a file that File::closes_behind(). Waits for requests that are not complete, and for the
/// MPI; for no delayed write. Tells of errors that this rank has met in writes of this file, or of
/// one that was closed before. Collective.
int close_behind(std::shared_ptr<File> const& file, MPI_File* handle);

/// Of the team's closed files, from the one that was closed first on, how many are complete on this
/// rank. Local.
[[nodiscard]] std::size_t count_complete(Team const& team);
/// So many are complete on all ranks, and are no more. On all ranks at the same point of the
/// program.
void release_closed(Team const& team, std::size_t count);
/// A team may have so many: each has descriptors, and one of the team's operation queues.
constexpr std::size_t closed_at_most = 16;
/// Where the team has more than `most`: waits until the oldest are no more, and half as many are
/// left. False: it has not. Collective, blocks.
bool limit_closed(Team& team, std::size_t most);

/// Before MPI ends: until all closed files are complete and no more. Returns what this rank has met
/// in writes of them and has not told. Collective in effect, blocks.
[[nodiscard]] Status end_closed_files();
/// Adds up the sums of all files that were closed so, where they are wanted. Collective.
void collect_statistics_of_closed();

}  // namespace sluice
