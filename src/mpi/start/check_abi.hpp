// This function finds out whether the library fits the MPI of the program.
#pragma once

namespace sluice {

/// Ends the process with a message if the library was built for another MPI than the program's, for
/// another ABI, or for a version of the MPI with functions that this one has not; or if the MPI
/// cannot work with the launcher. A library of another MPI loads without complaint and then
/// misreads every handle.
/// To be called before any function of the MPI that takes a handle, so before it is initialised.
void check_abi();

/// The same where the MPI numbers the constants of the standard ABI in another way; after it was
/// initialised.
void check_constants();

/// The same where this rank is alone in its world, by a launcher of another MPI that started more.
void check_world(int ranks_of_world);

}  // namespace sluice
