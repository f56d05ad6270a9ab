// How the memory of a node is made, found and handed over. See node_memory.hpp.
#include "mpi/communicator/node_memory.hpp"

#include "mpi/ranks.hpp"
#include "system/fd_passing.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t page = 4096;

/// What a rank tells the others of its node; trivially copyable.
struct Shown {
    SharedMemoryName doorbell, windows;
    std::uint64_t queues = 0;
    AbstractName address;
    ProcessAddress process;
};

std::vector<Shown> show(Shown const& mine, MPI_Comm node) {
    int size = 0;
    PMPI_Comm_size(node, &size);
    std::vector<Shown> all(static_cast<std::size_t>(size));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node);
    return all;
}

/// For as many operation queues as the system grants room: limits on the size of files are common
/// where jobs share machines.
NodeMemory make_windows(RegionShape const& shape, std::size_t queues, std::size_t tail_bytes) {
    for (; queues > 0; queues /= 2) {
        auto memory = SharedMemory::create_unmapped(queues * queue_bytes(shape) + tail_bytes);
        if (memory) return {std::move(*memory), {}, queues, 0, {}};
    }
    return {};
}

/// Each rank in turn hands its descriptors to the others: so only one message waits for anybody.
std::vector<std::vector<int>> hand_over(std::vector<Shown> const& all, std::vector<int> const& mine,
                                        FdPassing const& fd_passing, MPI_Comm node) {
    std::vector<std::vector<int>> received(all.size());
    auto const self = static_cast<std::size_t>(rank_in(node));
    for (std::size_t from = 0; from < all.size(); ++from) {
        for (std::size_t to = 0; from == self && to < all.size(); ++to) {
            if (fd_passing.send(all[to].address, mine)) continue;
            // Nobody waits for it: the receiver finds nothing, and all agree that it has failed.
        }
        PMPI_Barrier(node);
        received[from] = fd_passing.receive();
    }
    return received;
}

/// Whether all that the ranks have shown is here now.
bool complete(NodeMemory const& memory, std::vector<Shown> const& all) {
    return memory.windows.descriptor() >= 0 && memory.doorbells.size() == all.size();
}

void add_doorbell(NodeMemory& memory, std::optional<SharedMemory> doorbell) {
    if (doorbell) memory.doorbells.push_back(std::move(*doorbell));
}

void take_windows(NodeMemory& memory, std::optional<SharedMemory> windows) {
    if (windows) memory.windows = std::move(*windows);
}

void attach_by_proc(NodeMemory& memory, std::vector<Shown> const& all) {
    if (memory.windows.descriptor() < 0)
        take_windows(memory, SharedMemory::attach_unmapped(all[0].windows));
    for (auto const& shown : all) add_doorbell(memory, SharedMemory::attach(shown.doorbell, page));
}

/// What the ranks hand over: the doorbell, and the leader the windows as well.
void attach_by_fd_passing(NodeMemory& memory, std::vector<Shown> const& all,
                          std::vector<int> const& mine, FdPassing const& fd_passing,
                          MPI_Comm node) {
    memory.doorbells.clear();
    auto received = hand_over(all, mine, fd_passing, node);
    for (std::size_t from = 0; from < all.size(); ++from) {
        auto& descriptors = received[from];
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            if (i == 0)
                add_doorbell(memory, SharedMemory::adopt(descriptors[i], all[from].doorbell, page));
            else if (from == 0 && memory.windows.descriptor() < 0)
                take_windows(memory,
                             SharedMemory::adopt_unmapped(descriptors[i], all[from].windows));
            else
                close(descriptors[i]);
        }
    }
}

}  // namespace

std::size_t page_bytes(std::size_t bytes) noexcept {
    constexpr std::size_t page_most = 64 * 1024;
    return (bytes + page_most - 1) / page_most * page_most;
}

std::size_t queue_bytes(RegionShape const& shape) noexcept {
    return page_bytes(SharedRegion::bytes_needed(shape));
}

std::optional<NodeMemory> share_node_memory(MPI_Comm node, SharedMemory const& doorbell,
                                            RegionShape const& shape, std::size_t queues_wished,
                                            std::size_t tail_bytes) {
    NodeMemory memory;
    bool const leads = rank_in(node) == 0;
    if (leads) memory = make_windows(shape, queues_wished, tail_bytes);
    FdPassing const fd_passing;
    auto const all = show({doorbell.name(), memory.windows.name(), memory.queues,
                           fd_passing.address(), own_process()},
                          node);
    for (Shown const& shown : all) memory.processes.push_back(shown.process);
    memory.queues = all[0].queues;
    if (memory.queues == 0) return std::nullopt;
    memory.tail_at = memory.queues * queue_bytes(shape);
    attach_by_proc(memory, all);
    note("node-shared memory: " + memory.windows.place());
    // Also: nobody's descriptor closes too early.
    if (all_agree(complete(memory, all), node)) return memory;
    note("node-shared memory: not found through /proc, handed over through sockets");
    std::vector<int> mine{doorbell.descriptor()};
    if (leads) mine.push_back(memory.windows.descriptor());
    attach_by_fd_passing(memory, all, mine, fd_passing, node);
    if (!all_agree(complete(memory, all), node)) return std::nullopt;
    return memory;
}

NodeMemory own_node_memory(std::size_t queues_wished) {
    NodeMemory memory;
    memory.queues = queues_wished;
    add_doorbell(memory, SharedMemory::create_private(page));  // Nobody but this rank would ring.
    return memory;
}

}  // namespace sluice
