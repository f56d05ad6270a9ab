// Does this library fit the program?
#pragma once

namespace sluice {

/// Ends the process with a message if the library was built for another MPI than the program's, or
/// for another ABI. Such a library loads without complaint and then misreads every handle.
/// To be called before any function of the MPI that takes a handle, so before it is initialised.
void check_fit();

/// The same where the MPI numbers the constants of the standard ABI in another way; after it was
/// initialised.
void check_constants();

}  // namespace sluice
