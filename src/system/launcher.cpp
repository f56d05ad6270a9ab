// Which launcher sets which variables. docs/mpis.md has them for users. See launcher.hpp.
#include "system/launcher.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace sluice {

namespace {

/// Names of environment variables; null: the launcher has none for it.
struct Launcher {
    char const *name, *cure;
    char const* mark;  ///< It is set by this launcher alone.
    char const *ranks, *rank, *ranks_of_node, *rank_of_node;
    char const* node = nullptr;   ///< The place of this node in a list in `ranks_of_node`.
    char const* nodes = nullptr;  ///< How many nodes: of one, all ranks are on it.
};

/// The first whose mark is set has started this process: an mpiexec may run in a job or a task of
/// a resource manager, and sees the variables of both. jsrun's MPI is one of Open MPI's family.
constexpr Launcher launchers[] = {
    {"jsrun", "they have to be linked with the MPI that jsrun belongs to", "JSM_NAMESPACE_RANK",
     "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_SIZE",
     "JSM_NAMESPACE_LOCAL_RANK"},
    {"mpiexec of Open MPI", nullptr, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"mpiexec (Hydra)", nullptr, "MPI_LOCALNRANKS", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS",
     "MPI_LOCALRANKID"},
    {"mpirun_rsh of MVAPICH", nullptr, "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"Flux",
     "flux run has to start them with -o pmi=simple or -o pmi=pmix, whichever their MPI "
     "knows",
     "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", nullptr, "FLUX_TASK_LOCAL_ID", nullptr,
     "FLUX_JOB_NNODES"},
    {"PALS", "mpiexec has to start them with --pmi=cray or --pmi=pmix, whichever their MPI knows",
     "PALS_RANKID", "PMI_SIZE", "PALS_RANKID", "PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID"},
    {"srun", "srun has to start them with --mpi=pmi2 or --mpi=pmix, whichever their MPI knows",
     "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE",
     "SLURM_LOCALID", "SLURM_NODEID"},
    {"aprun of ALPS", "they have to be linked with Cray's MPI", "ALPS_APP_PE", "PMI_SIZE",
     "ALPS_APP_PE", "PMI_LOCAL_SIZE", "PMI_LOCAL_RANK"},
    {"a launcher with PMI", nullptr, "PMI_RANK", "PMI_SIZE", "PMI_RANK", "PMI_LOCAL_SIZE",
     "PMI_LOCAL_RANK"},
    {"a launcher with PMIx", nullptr, "PMIX_RANK", nullptr, "PMIX_RANK", nullptr, nullptr}};

long number_if_named(char const* name) noexcept { return name ? number_in_environment(name) : -1; }

long ranks_of_node(Launcher const& by, long ranks) noexcept {
    if (number_if_named(by.nodes) == 1) return ranks;
    char const* const list = by.ranks_of_node ? std::getenv(by.ranks_of_node) : nullptr;
    return list ? tasks_of_node(list, by.node ? number_in_environment(by.node) : 0) : -1;
}

/// A resource manager may have started another launcher as one of its tasks, which started this
/// process: that one tells of a job of its own.
bool has_started(Launcher const& launcher) noexcept {
    if (!std::getenv(launcher.mark)) return false;
    auto const agrees = [](char const* own, char const* nearer) {
        long const number = number_if_named(own), other = number_in_environment(nearer);
        return number < 0 || other < 0 || number == other;
    };
    return !launcher.cure ||
           (agrees(launcher.ranks, "PMI_SIZE") && agrees(launcher.ranks, "OMPI_COMM_WORLD_SIZE") &&
            agrees(launcher.rank, "PMIX_RANK"));
}

std::atomic<bool> is_doubted{false};

/// PMI and PMIx tell some of what the launcher does not say itself.
Launch launch_by(Launcher const& by) noexcept {
    auto const either = [](char const* name, char const* otherwise) {
        long const number = number_if_named(name);
        return number >= 0 ? number : number_in_environment(otherwise);
    };
    Launch launch{by.name, by.cure};
    launch.ranks = either(by.ranks, "PMI_SIZE");
    launch.rank = either(by.rank, "PMIX_RANK");
    launch.ranks_of_node = ranks_of_node(by, launch.ranks);
    launch.rank_of_node = number_if_named(by.rank_of_node);
    launch.nodes = number_if_named(by.nodes);
    return launch;
}

}  // namespace

long number_in_environment(char const* name) noexcept {
    char const* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : -1;
}

long Launch::sharing_node() const noexcept {
    if (ranks_of_node > 0) return ranks_of_node;
    return ranks <= 0 ? 1 : nodes > 0 ? (ranks + nodes - 1) / nodes : ranks;
}

void doubt_launcher() noexcept { is_doubted = true; }

Launch launched() noexcept {
    if (is_doubted) return {};
    for (Launcher const& launcher : launchers)
        if (has_started(launcher)) return launch_by(launcher);
    return {};
}

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

Apart apart_from_launcher(int ranks_of_world) {
    Launch const by = launched();
    if (ranks_of_world != 1 || by.ranks <= 1) return {};
    std::string const started = std::string(by.launcher) + " started " + std::to_string(by.ranks);
    if (by.cure)
        return {started +
                " tasks, and MPI_COMM_WORLD has one rank in each: if they are to be one "
                "job, " +
                by.cure};
    return {started + " ranks, but each is a job of its own: that launcher does not belong to the "
                      "MPI in this process",
            true};
}

}  // namespace sluice
