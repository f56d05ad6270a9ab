// NodeMemory is the memory that the ranks of a node share, and how they get hold of it.
#pragma once
#include "file/run/shared_region.hpp"
#include "system/peer_process.hpp"
#include "system/shared_memory.hpp"

#include <mpi.h>

namespace sluice {

struct NodeMemory {
    SharedMemory
        windows;  ///< One after the other, one for each operation queue; then a tail. Unmapped.
    std::vector<SharedMemory> doorbells;    ///< By local index; one page each.
    std::size_t queues = 0;                 ///< Fewer than wished for where the system sets limits.
    std::size_t tail_at = 0;                ///< Behind the windows.
    std::vector<ProcessAddress> processes;  ///< Of the ranks, by local index.
};

/// So many at least, and whole pages, however large the system's are.
[[nodiscard]] std::size_t page_bytes(std::size_t bytes) noexcept;

/// From one operation queue's window to the next.
[[nodiscard]] std::size_t queue_bytes(RegionShape const& shape) noexcept;

/// The leader makes the memory, all attach it and each other's doorbells: by /proc, else handed
/// over through sockets. All or none. Collective over `node`. A process's doorbell comes as
/// `doorbell`.
std::optional<NodeMemory> share_node_memory(MPI_Comm node, SharedMemory const& doorbell,
                                            RegionShape const& shape, std::size_t queues_wished,
                                            std::size_t tail_bytes);

/// For a rank that is a node of its own.
NodeMemory own_node_memory(std::size_t queues_wished);

}  // namespace sluice
