// Making, finding and handing over. See node_memory.hpp.
#include "mpi/communicator/node_memory.hpp"

#include "mpi/environment.hpp"
#include "mpi/ranks.hpp"
#include "system/handover.hpp"

#include <algorithm>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t page = 4096;

/// What a rank tells the others of its node; trivially copyable.
struct Shown {
    SharedMemoryName bell, windows;
    std::uint64_t streams = 0;
    HandoverAddress address;
};

std::vector<Shown> show(Shown const& mine, MPI_Comm node) {
    int size = 0;
    PMPI_Comm_size(node, &size);
    std::vector<Shown> all(static_cast<std::size_t>(size));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node);
    return all;
}

/// For as many streams as the system grants room: limits on the size of files are common where
/// jobs share machines.
NodeMemory make_windows(WindowShape const& shape, std::size_t streams, std::size_t tail_bytes) {
    for (; streams > 0; streams /= 2) {
        auto memory = SharedMemory::create_unmapped(streams * stream_bytes(shape) + tail_bytes);
        if (memory) return {std::move(*memory), {}, streams, 0};
    }
    return {};
}

/// Each rank in turn hands its descriptors to the others: so only one message waits for anybody.
std::vector<std::vector<int>> hand_over(std::vector<Shown> const& all, std::vector<int> const& mine,
                                        Handover const& handover, MPI_Comm node) {
    std::vector<std::vector<int>> received(all.size());
    auto const self = static_cast<std::size_t>(rank_in(node));
    for (std::size_t from = 0; from < all.size(); ++from) {
        for (std::size_t to = 0; from == self && to < all.size(); ++to) {
            if (handover.send(all[to].address, mine)) continue;
            // Nobody waits for it: the receiver finds nothing, and all agree that it has failed.
        }
        PMPI_Barrier(node);
        received[from] = handover.receive();
    }
    return received;
}

/// Whether all that the ranks have shown is here now.
bool complete(NodeMemory const& memory, std::vector<Shown> const& all) {
    return memory.windows.descriptor() >= 0 && memory.bells.size() == all.size();
}

void add_bell(NodeMemory& memory, std::optional<SharedMemory> bell) {
    if (bell) memory.bells.push_back(std::move(*bell));
}

void take_windows(NodeMemory& memory, std::optional<SharedMemory> windows) {
    if (windows) memory.windows = std::move(*windows);
}

void attach_by_proc(NodeMemory& memory, std::vector<Shown> const& all) {
    if (memory.windows.descriptor() < 0)
        take_windows(memory, SharedMemory::attach_unmapped(all[0].windows));
    for (auto const& shown : all) add_bell(memory, SharedMemory::attach(shown.bell, page));
}

/// What the ranks hand over: the bell, and the leader the windows as well.
void attach_by_handover(NodeMemory& memory, std::vector<Shown> const& all,
                        std::vector<int> const& mine, Handover const& handover, MPI_Comm node) {
    memory.bells.clear();
    auto received = hand_over(all, mine, handover, node);
    for (std::size_t from = 0; from < all.size(); ++from) {
        auto& descriptors = received[from];
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            if (i == 0)
                add_bell(memory, SharedMemory::adopt(descriptors[i], all[from].bell, page));
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

std::size_t stream_bytes(WindowShape const& shape) noexcept {
    return page_bytes(NodeWindow::bytes_needed(shape));
}

std::optional<NodeMemory> share_node_memory(MPI_Comm node, SharedMemory const& bell,
                                            WindowShape const& shape, std::size_t streams_wished,
                                            std::size_t tail_bytes) {
    NodeMemory memory;
    bool const leads = rank_in(node) == 0;
    if (leads) memory = make_windows(shape, streams_wished, tail_bytes);
    Handover const handover;
    auto const all =
        show({bell.name(), memory.windows.name(), memory.streams, handover.address()}, node);
    memory.streams = all[0].streams;
    if (memory.streams == 0) return std::nullopt;
    memory.tail_at = memory.streams * stream_bytes(shape);
    attach_by_proc(memory, all);
    note("node-shared memory: " + memory.windows.place());
    // Also: nobody's descriptor closes too early.
    if (all_agree(complete(memory, all), node)) return memory;
    note("node-shared memory: not found through /proc, handed over through sockets");
    std::vector<int> mine{bell.descriptor()};
    if (leads) mine.push_back(memory.windows.descriptor());
    attach_by_handover(memory, all, mine, handover, node);
    if (!all_agree(complete(memory, all), node)) return std::nullopt;
    return memory;
}

NodeMemory own_node_memory(std::size_t streams_wished) {
    NodeMemory memory;
    memory.streams = streams_wished;
    add_bell(memory, SharedMemory::create_private(page));  // Nobody but this rank would ring.
    return memory;
}

}  // namespace sluice
