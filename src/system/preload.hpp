// How the library leaves LD_PRELOAD.
#pragma once
#include <string>

namespace sluice {

/// Takes this library, and nothing else, out of LD_PRELOAD: programs that this one starts are not
/// loaded with it and its MPI. Called when MPI is initialised, so that a shell that becomes the
/// program still hands it on.
void leave_preload();
/// The path of this library, where it was in LD_PRELOAD; else empty.
[[nodiscard]] std::string const& preloaded_path();

}  // namespace sluice
