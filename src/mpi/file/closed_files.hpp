// Files whose MPI_File_close has returned while something of them was under way: writes that had
// been delayed (hint sluice_close=behind), or reads that were made ahead. The MPI has closed them.
// Calls on other handles of the file wait for such writes as they do for those of an open handle.
// A closed file keeps its operation queue, and what keepers have to know of its calls, until all
// ranks have found it complete, which they tell each other when the team's next file is opened.
#pragma once
#include "mpi/file/file.hpp"

namespace sluice {

/// Closes a file that File::closes_behind(). Waits for requests that are not complete, and for the
/// MPI; for no delayed write. Tells of errors that this rank has met in writes of this file, or of
/// files that were closed so before. Collective.
int close_behind(std::shared_ptr<File> const& file, MPI_File* handle);

/// The File::sequence of the first of the team's closed files that is not complete on this rank;
/// the largest number: all are. Local.
[[nodiscard]] std::uint64_t first_incomplete(Team const& team);
/// Whether more of them are not complete than may be: each has one of the team's queues. Local.
[[nodiscard]] bool are_too_many_incomplete(Team const& team);
/// The team's closed files before number `below` are complete on all ranks, and are no more. On all
/// ranks at the same point of the program: collective where statistics are wanted.
void release_closed(Team const& team, std::uint64_t below);
/// Until no closed file of the team is left. Collective, blocks.
void complete_closed(Team& team);

/// Before the world or a session ends: until all closed files are complete. Returns what this rank
/// has met in writes of them and has not told. `last`: MPI ends, and no file is opened any more.
/// Collective in effect, blocks.
[[nodiscard]] Status end_closed_files(bool last);

}  // namespace sluice
