// Variables of mpiexec. See launcher.hpp.
#include "ports/launcher.hpp"

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

}  // namespace sluice
