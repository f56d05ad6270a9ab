// The settings of this process, which it reads from the environment once, and the lines that it
// writes to stderr. Each line has a prefix; most are written once a job.
#pragma once
#include "file/plan/settings.hpp"

namespace sluice {

/// Read from the environment when first asked for.
[[nodiscard]] Settings const& settings();

/// Takes this library, and nothing else, out of LD_PRELOAD: programs that this one starts are not
/// loaded with it and its MPI. Called when MPI is initialised, so that a shell that becomes the
/// program still hands it on.
void leave_preload();
/// The path of this library, where it was in LD_PRELOAD; else empty.
[[nodiscard]] std::string const& preloaded_path();

/// A warning on stderr, by rank 0 only unless `always`; each text once. Never blocks on MPI.
void warn(std::string const& text, bool always = false);
/// Without a condition: something that was asked for.
void say(std::string const& text);
/// A line for SLUICE_LOG=2.
void note(std::string const& text);

/// This process's rank in MPI_COMM_WORLD, once MPI is initialised; before that 0.
[[nodiscard]] int world_rank() noexcept;
void set_world_rank(int rank) noexcept;
/// What cannot be understood of the environment: said once, by rank 0.
void tell_complaints();

}  // namespace sluice
