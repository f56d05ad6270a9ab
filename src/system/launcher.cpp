// Which launcher sets which variables. See launcher.hpp.
#include "system/launcher.hpp"

#include <algorithm>
#include <cstdlib>

namespace sluice {

long number_in_environment(char const* name) noexcept {
    char const* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : -1;
}

long launched_ranks() noexcept {
    return std::max(number_in_environment("OMPI_COMM_WORLD_SIZE"),
                    number_in_environment("PMI_SIZE"));
}

long launched_rank() noexcept {
    return std::max({number_in_environment("OMPI_COMM_WORLD_RANK"),
                     number_in_environment("PMIX_RANK"), number_in_environment("PMI_RANK")});
}

long launched_ranks_of_node() noexcept {
    return std::max(number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE"),
                    number_in_environment("MPI_LOCALNRANKS"));
}

long launched_rank_of_node() noexcept {
    return std::max(number_in_environment("OMPI_COMM_WORLD_LOCAL_RANK"),
                    number_in_environment("MPI_LOCALRANKID"));
}

std::string apart_from_launcher(int ranks_of_world) {
    if (ranks_of_world != 1 || launched_ranks() <= 1) return {};
    return "mpiexec started " + std::to_string(launched_ranks()) +
           " ranks, but each of them is a job of its own: that mpiexec does not belong to the MPI "
           "in this process";
}

}  // namespace sluice
