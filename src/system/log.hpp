// The lines that a process writes to stderr. Each line has a prefix; most are written once a job.
#pragma once
#include <string>

namespace sluice {

/// A warning on stderr, by rank 0 only unless `always`; each text once. Never blocks on MPI.
void warn(std::string const& text, bool always = false);
/// Without a condition: something that was asked for. `text` is one line, of which control
/// characters are shown as numbers; lines of the library's own words may follow it.
void say(std::string const& text, std::string const& below = "");
/// The same for SLUICE_LOG=3.
void note(std::string const& text, std::string const& below = "");
/// What cannot be understood of the environment: said once, by rank 0.
void tell_complaints();

/// This process's rank in MPI_COMM_WORLD, once MPI is initialised; before that 0.
[[nodiscard]] int world_rank() noexcept;
void set_world_rank(int rank) noexcept;

}  // namespace sluice
