// These functions read what the launcher of a job (mpiexec, srun) tells each rank by environment
// variables. Each MPI's launcher has its own variables, and none of them need be there.
#pragma once
#include <string>

namespace sluice {

/// A whole number in the environment; -1: there is none.
long number_in_environment(char const* name) noexcept;

/// How many ranks the launcher started, and which of them this is; -1: it does not say.
long launched_ranks() noexcept;
long launched_rank() noexcept;
/// How many of its ranks are on this node; -1: the launcher does not say.
long launched_ranks_of_node() noexcept;
/// Which of these this is; -1: the launcher does not say.
long launched_rank_of_node() noexcept;

/// What to say where MPI_COMM_WORLD has one rank although the launcher started several: it belongs
/// to another MPI, so that each rank believes to be a job of its own. Empty: that is not so.
std::string apart_from_launcher(int ranks_of_world);

}  // namespace sluice
