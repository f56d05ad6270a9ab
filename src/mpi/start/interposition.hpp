// These functions find out whether the program's calls reach this library. A program, or a tool
// that comes first, may define a function of MPI itself and go on to its PMPI_ name, as the
// standard allows; then the call passes this library by.
#pragma once

namespace sluice {

/// False where calls that all of this library's work rests on may pass it by: nothing must be
/// served then. Looked up once, among the names that the library itself exports.
[[nodiscard]] bool calls_arrive();

/// Says so, once and by rank 0, where they do not.
void tell_missed_calls(int rank_in_world);

}  // namespace sluice
