// Making, finding and handing over. See node_memory.hpp.
#include "api/node_memory.hpp"

#include "api/environment.hpp"
#include "api/ranks.hpp"
#include "ports/handover.hpp"

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

/// Counters and boards are used before slots are reserved. Where pages can be refused one by one
/// they are backed here, of all streams.
bool back_control(SharedMemory const& memory, WindowShape const& shape, std::size_t streams) {
    if (!memory.is_in_file()) return true;
    Span const control = NodeWindow::stretches(shape, 0, 0).front();
    auto const each = static_cast<Offset>(NodeWindow::bytes_needed(shape));
    for (Offset at = 0; at < static_cast<Offset>(streams) * each; at += each) {
        if (!memory.reserve({at + control.begin, at + control.end})) return false;
    }
    return true;
}

/// For as many streams as the system grants address space and, in a file, room: limits on either
/// are common where jobs share machines.
template <class Create>
NodeMemory make_windows(WindowShape const& shape, std::size_t streams, std::size_t tail_bytes,
                        Create&& create) {
    for (; streams > 0; streams /= 2) {
        auto memory = create(streams * NodeWindow::bytes_needed(shape) + tail_bytes);
        if (memory && back_control(*memory, shape, streams)) {
            return {std::move(*memory), {}, streams};
        }
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
    return memory.windows.data() && memory.bells.size() == all.size();
}

void add_bell(NodeMemory& memory, std::optional<SharedMemory> bell) {
    if (bell) memory.bells.push_back(std::move(*bell));
}

void take_windows(NodeMemory& memory, std::optional<SharedMemory> windows) {
    if (windows) memory.windows = std::move(*windows);
}

void attach_by_proc(NodeMemory& memory, std::vector<Shown> const& all, std::size_t bytes) {
    if (!memory.windows.data()) take_windows(memory, SharedMemory::attach(all[0].windows, bytes));
    for (auto const& shown : all) add_bell(memory, SharedMemory::attach(shown.bell, page));
}

/// What the ranks hand over: the bell, and the leader the windows as well.
void attach_by_handover(NodeMemory& memory, std::vector<Shown> const& all,
                        std::vector<int> const& mine, Handover const& handover, std::size_t bytes,
                        MPI_Comm node) {
    memory.bells.clear();
    auto received = hand_over(all, mine, handover, node);
    for (std::size_t from = 0; from < all.size(); ++from) {
        auto& descriptors = received[from];
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            if (i == 0)
                add_bell(memory, SharedMemory::adopt(descriptors[i], all[from].bell, page));
            else if (from == 0 && !memory.windows.data())
                take_windows(memory, SharedMemory::adopt(descriptors[i], all[from].windows, bytes));
            else
                close(descriptors[i]);
        }
    }
}

}  // namespace

std::optional<NodeMemory> share_node_memory(MPI_Comm node, SharedMemory const& bell,
                                            WindowShape const& shape, std::size_t streams_wished,
                                            std::size_t tail_bytes) {
    NodeMemory memory;
    bool const leads = rank_in(node) == 0;
    if (leads) memory = make_windows(shape, streams_wished, tail_bytes, SharedMemory::create);
    Handover const handover;
    auto const all =
        show({bell.name(), memory.windows.name(), memory.streams, handover.address()}, node);
    memory.streams = all[0].streams;
    if (memory.streams == 0) return std::nullopt;
    auto const bytes = memory.streams * NodeWindow::bytes_needed(shape) + tail_bytes;
    attach_by_proc(memory, all, bytes);
    note("node-shared memory: " + memory.windows.place());
    // Also: nobody's descriptor closes too early.
    if (all_agree(complete(memory, all), node)) return memory;
    note("node-shared memory: not found through /proc, handed over through sockets");
    std::vector<int> mine{bell.descriptor()};
    if (leads) mine.push_back(memory.windows.descriptor());
    attach_by_handover(memory, all, mine, handover, bytes, node);
    if (!all_agree(complete(memory, all), node)) return std::nullopt;
    return memory;
}

NodeMemory own_node_memory(WindowShape const& shape, std::size_t streams_wished,
                           std::size_t tail_bytes) {
    auto memory = make_windows(shape, streams_wished, tail_bytes, SharedMemory::create_private);
    add_bell(memory, SharedMemory::create_private(page));  // Nobody but this rank would ring.
    return memory;
}

}  // namespace sluice
