// These functions read what the launcher of a job (mpiexec, srun) tells each rank by environment
// variables. Each MPI's launcher has its own variables, and none of them need be there.
#pragma once
#include <string>
#include <string_view>

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

/// How many tasks the srun around this process started; -1: there is none.
long srun_tasks() noexcept;
/// Of a list as Slurm writes it, "2(x3),1": the tasks of a node, by its number; -1: none are known.
long tasks_of_node(std::string_view tasks_per_node, long node) noexcept;

/// The resource manager in whose control group a process is, by the text of /proc/PID/cgroup;
/// empty: none that is known. It ends all processes of the group when a job ends.
std::string manager_of(std::string_view control_groups);

/// What to say where MPI_COMM_WORLD has one rank although the launcher started several: it belongs
/// to another MPI, so that each rank believes to be a job of its own. Empty: that is not so.
std::string apart_from_launcher(int ranks_of_world);

}  // namespace sluice
