// The memory that the ranks of a node share, and how they come to it.
#pragma once
#include "ports/shared_memory.hpp"
#include "run/window.hpp"

#include <mpi.h>

namespace sluice {

struct NodeMemory {
    SharedMemory windows;             ///< One after the other, one for each stream; then a tail.
    std::vector<SharedMemory> bells;  ///< By local index; one page each.
    std::size_t streams = 0;          ///< Fewer than wished for where the system sets limits.
};

/// The leader makes the memory, all attach it and each other's bells: by /proc, else handed over
/// through sockets. All or none. Collective over `node`. A process's bell comes as `bell`.
std::optional<NodeMemory> share_node_memory(MPI_Comm node, SharedMemory const& bell,
                                            WindowShape const& shape, std::size_t streams_wished,
                                            std::size_t tail_bytes);

/// For a rank that is a node of its own. `streams` is 0 where the system has no memory.
NodeMemory own_node_memory(WindowShape const& shape, std::size_t streams_wished,
                           std::size_t tail_bytes);

}  // namespace sluice
