// Does this library fit the program?
#pragma once

namespace sluice {

/// Ends the process with a message if the library was built for another MPI than the program's, or
/// for another ABI. Such a library loads without complaint and then misreads every handle.
void check_fit();

}  // namespace sluice
