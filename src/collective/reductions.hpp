// Pure functions that make the schedules of collectives that combine elements;
// collective/algorithms.hpp calls them.
#pragma once
#include "collective/algorithms.hpp"

namespace sluice {

/// make_collective() of the kinds that reduce.
[[nodiscard]] CollectiveSchedule make_reduction_collective(CollectiveCall const& call,
                                                           Algorithm algorithm, Rank self,
                                                           Rank ranks, Bytes segment);

/// algorithms_of() of the kinds that reduce.
[[nodiscard]] std::vector<Algorithm> reduction_algorithms_of(CollectiveCall const& call,
                                                             Rank ranks);

}  // namespace sluice
