// What the launcher of a job (mpiexec, srun and others) tells each rank by environment variables.
// Each launcher has its own variables, and none of them need be there.
#pragma once
#include <string>
#include <string_view>

namespace sluice {

/// A whole number in the environment; -1: there is none.
long number_in_environment(char const* name) noexcept;

/// What a launcher says of the job, and of this process. -1: it does not say.
struct Launch {
    char const* launcher = nullptr;  ///< Its name; null: no launcher that is known.
    /// How a launcher that starts serial programs too makes one job of its tasks; null: it starts
    /// jobs of an MPI only.
    char const* cure = nullptr;
    long ranks = -1, rank = -1;                  ///< Of MPI_COMM_WORLD.
    long ranks_of_node = -1, rank_of_node = -1;  ///< Of them, those on this node.
    long nodes = -1;

    /// Among how many ranks of this node what it has is shared: where the launcher does not count
    /// them, as many as there would be if all nodes had as many, or were one.
    [[nodiscard]] long sharing_node() const noexcept;
};
/// Nothing after doubt_launcher().
Launch launched() noexcept;
/// The MPI has another world than the launcher tells of: an outer one, or one of another MPI.
/// Called once MPI_COMM_WORLD is there.
void doubt_launcher() noexcept;

/// Of a list as Slurm writes it, "2(x3),1": the tasks of a node, by its number; -1: none are known.
long tasks_of_node(std::string_view tasks_per_node, long node) noexcept;

/// The resource manager in whose control group a process is, by the text of /proc/PID/cgroup;
/// empty: none that is known. It ends all processes of the group when a job ends.
std::string manager_of(std::string_view control_groups);

/// What to say where MPI_COMM_WORLD has one rank although the launcher started several: each rank
/// is a job of its own.
struct Apart {
    std::string what;       ///< Empty: that is not so.
    bool is_fatal = false;  ///< Nobody can have meant it; otherwise serial programs may be meant.
};
Apart apart_from_launcher(int ranks_of_world);

}  // namespace sluice
