// Which launcher sets which variables. See launcher.hpp.
#include "system/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace sluice {

long number_in_environment(char const* name) noexcept {
    char const* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : -1;
}

namespace {

long mpiexec_ranks() noexcept {
    return std::max(number_in_environment("OMPI_COMM_WORLD_SIZE"),
                    number_in_environment("PMI_SIZE"));
}

/// What srun tells its tasks. An mpiexec may run below an srun of its own, so what it says counts
/// first.
long unless_known(long by_mpiexec, char const* by_srun) noexcept {
    return by_mpiexec >= 0 || srun_tasks() < 1 ? by_mpiexec : number_in_environment(by_srun);
}

}  // namespace

long srun_tasks() noexcept { return number_in_environment("SLURM_STEP_NUM_TASKS"); }

long tasks_of_node(std::string_view tasks_per_node, long node) noexcept {
    while (node >= 0 && !tasks_per_node.empty()) {
        auto const comma = std::min(tasks_per_node.find(','), tasks_per_node.size());
        std::string_view const part = tasks_per_node.substr(0, comma);
        auto const number_in = [](std::string_view text) {
            long number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            return number;
        };
        auto const times = part.find("(x");
        long const nodes = times == part.npos ? 1 : number_in(part.substr(times + 2));
        if (node < nodes) return number_in(part) > 0 ? number_in(part) : -1;
        node -= nodes;
        tasks_per_node.remove_prefix(std::min(comma + 1, tasks_per_node.size()));
    }
    return -1;
}

std::string manager_of(std::string_view control_groups) {
    constexpr std::pair<std::string_view, char const*> managers[] = {{"slurm", "Slurm"},
                                                                     {"pbs", "PBS"},
                                                                     {"htcondor", "HTCondor"},
                                                                     {"/lsf/", "LSF"},
                                                                     {"kubepods", "Kubernetes"}};
    for (auto const& [mark, name] : managers)
        if (control_groups.find(mark) != control_groups.npos) return name;
    return {};
}

long launched_ranks() noexcept { return unless_known(mpiexec_ranks(), "SLURM_STEP_NUM_TASKS"); }

long launched_rank() noexcept {
    return unless_known(
        std::max({number_in_environment("OMPI_COMM_WORLD_RANK"), number_in_environment("PMIX_RANK"),
                  number_in_environment("PMI_RANK")}),
        "SLURM_PROCID");
}

long launched_ranks_of_node() noexcept {
    long const by_mpiexec = std::max(number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE"),
                                     number_in_environment("MPI_LOCALNRANKS"));
    char const* const by_srun = std::getenv("SLURM_STEP_TASKS_PER_NODE");
    if (by_mpiexec >= 0 || srun_tasks() < 1 || !by_srun) return by_mpiexec;
    return tasks_of_node(by_srun, number_in_environment("SLURM_NODEID"));
}

long launched_rank_of_node() noexcept {
    return unless_known(std::max(number_in_environment("OMPI_COMM_WORLD_LOCAL_RANK"),
                                 number_in_environment("MPI_LOCALRANKID")),
                        "SLURM_LOCALID");
}

std::string apart_from_launcher(int ranks_of_world) {
    if (ranks_of_world != 1 || mpiexec_ranks() <= 1) return {};
    return "mpiexec started " + std::to_string(mpiexec_ranks()) +
           " ranks, but each of them is a job of its own: that mpiexec does not belong to the MPI "
           "in this process";
}

}  // namespace sluice
