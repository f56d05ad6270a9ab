// This check proves that the schedules of all ranks do together what MPI says of a collective.
// Tests use it.
#pragma once
#include "collective/algorithms.hpp"

#include <span>
#include <string>

namespace sluice {

/// Empty when the schedules of all ranks bring every byte where MPI says: messages pair up in every
/// order of starts, nothing is written twice or read before it is there, no two ops that may run at
/// once touch the same bytes, reductions combine every rank's elements exactly once and, where the
/// operation is not commutative, in the order of ranks. `calls[r]`, `schedules[r]` are rank r's.
[[nodiscard]] std::string first_fault(std::span<CollectiveCall const> calls,
                                      std::span<CollectiveSchedule const> schedules);

}  // namespace sluice
