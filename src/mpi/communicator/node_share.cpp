// How the ranks of a node make their common memory and get hold of it. See node_share.hpp.
#include "mpi/communicator/node_share.hpp"

#include "base/round_up.hpp"
#include "mpi/ranks.hpp"
#include "system/fd_passing.hpp"
#include "system/log.hpp"
#include "transport/node_network.hpp"

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t doorbell_bytes = 4096;

/// Rounds up to 64 KiB, a multiple of every page size.
std::size_t whole_pages(std::size_t bytes) noexcept {
    constexpr std::size_t largest_page = 64 * 1024;
    return round_up(bytes, largest_page);
}

std::size_t reduction_bytes(Rank ranks) noexcept {
    return whole_pages(NodeReduction::bytes_needed(ranks));
}

/// What a rank tells the other ranks of its node; trivially copyable.
struct Shown {
    SharedMemoryName doorbell, file;
    std::uint64_t queue_count = 0;
    AbstractName address;
    ProcessAddress process;
};

std::vector<Shown> show(Shown const& mine, MPI_Comm node) {
    std::vector<Shown> all(static_cast<std::size_t>(size_in(node)));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node);
    return all;
}

/// What this rank has attached: all doorbells where it is complete.
struct Attached {
    SharedMemory& file;
    std::vector<SharedMemory> doorbells;

    void add_doorbell(std::optional<SharedMemory> page) {
        if (page) doorbells.push_back(std::move(*page));
    }
    void take_file(std::optional<SharedMemory> found) {
        if (found) file = std::move(*found);
    }
    [[nodiscard]] bool has_file() const noexcept { return file.descriptor() >= 0; }
    [[nodiscard]] bool is_complete(std::vector<Shown> const& all) const noexcept {
        return has_file() && doorbells.size() == all.size();
    }
};

void attach_through_proc(Attached& to, std::vector<Shown> const& all) {
    if (!to.has_file()) to.take_file(SharedMemory::attach_unmapped(all[0].file));
    for (Shown const& shown : all)
        to.add_doorbell(SharedMemory::attach(shown.doorbell, doorbell_bytes));
}

/// A rank sends the descriptor of its doorbell, and the leader that of the file after it.
void adopt(Attached& to, std::vector<int> const& descriptors, Shown const& sender) {
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        if (i == 0)
            to.add_doorbell(SharedMemory::adopt(descriptors[i], sender.doorbell, doorbell_bytes));
        else if (!to.has_file())
            to.take_file(SharedMemory::adopt_unmapped(descriptors[i], sender.file));
        else
            close(descriptors[i]);
    }
}

/// The ranks send one after the other, so that a receiver never has to keep many messages. Where a
/// send fails, its receiver finds no message, and lacks a doorbell afterwards.
void attach_through_sockets(Attached& to, std::vector<Shown> const& all,
                            std::vector<int> const& mine, FdPassing const& sockets, MPI_Comm node) {
    to.doorbells.clear();
    auto const self = static_cast<std::size_t>(rank_in(node));
    for (std::size_t sender = 0; sender < all.size(); ++sender) {
        if (sender == self) {
            for (Shown const& receiver : all)
                static_cast<void>(sockets.send(receiver.address, mine));
        }
        PMPI_Barrier(node);
        adopt(to, sockets.receive(), all[sender]);
    }
}

}  // namespace

NodeShare::NodeShare(Rank rank_count, std::size_t queue_bytes) noexcept
    : rank_count_(rank_count),
      queue_bytes_(whole_pages(queue_bytes)) {}

/// Where jobs share machines, the system often limits the size of files.
void NodeShare::make_file() {
    std::size_t const others =
        reduction_bytes(rank_count_) + NodeNetwork::bytes_needed(rank_count_);
    for (; queue_count_ > 0; queue_count_ /= 2) {
        auto file = SharedMemory::create_unmapped(queue_count_ * queue_bytes_ + others);
        if (!file) continue;
        file_ = std::move(*file);
        return;
    }
}

std::unique_ptr<NodeShare> NodeShare::among(MPI_Comm node, SharedMemory const& doorbell,
                                            std::size_t queue_bytes) {
    auto share = std::make_unique<NodeShare>(size_in(node), queue_bytes);
    bool const leads = rank_in(node) == 0;
    if (leads) share->make_file();
    FdPassing const sockets;
    auto const all = show({doorbell.name(), share->file_.name(), share->queue_count_,
                           sockets.address(), own_process()},
                          node);
    share->queue_count_ = all[0].queue_count;
    if (share->queue_count_ == 0) return nullptr;
    for (Shown const& shown : all) share->processes_.push_back(shown.process);
    Attached attached{share->file_, {}};
    attach_through_proc(attached, all);
    note("node-shared memory: " + share->file_.place());
    // This reduction is also the barrier after which a rank may close its descriptors.
    if (!all_agree(attached.is_complete(all), node)) {
        note("node-shared memory: not found through /proc, handed over through sockets");
        std::vector<int> mine{doorbell.descriptor()};
        if (leads) mine.push_back(share->file_.descriptor());
        attach_through_sockets(attached, all, mine, sockets, node);
        if (!all_agree(attached.is_complete(all), node)) return nullptr;
    }
    share->doorbells_ = std::make_unique<NodeDoorbells>(std::move(attached.doorbells));
    return share;
}

std::unique_ptr<NodeShare> NodeShare::of_one_rank(std::size_t queue_bytes) {
    auto share = std::make_unique<NodeShare>(1, queue_bytes);
    std::vector<SharedMemory> pages;  // Only this rank itself would ring.
    if (auto page = SharedMemory::create_private(doorbell_bytes)) pages.push_back(std::move(*page));
    share->doorbells_ = std::make_unique<NodeDoorbells>(std::move(pages));
    return share;
}

std::optional<Mapping> NodeShare::queue(std::size_t number) const {
    auto const begin = static_cast<Offset>(number * queue_bytes_);
    return file_.part({begin, begin + static_cast<Offset>(queue_bytes_)});
}

/// Addresses of a part behind those of the queues, with memory.
std::optional<Mapping> NodeShare::reserved(std::size_t at, std::size_t bytes) const {
    auto const begin = static_cast<Offset>(queue_count_ * queue_bytes_ + at);
    auto const length = static_cast<Offset>(bytes);
    auto part = file_.part({begin, begin + length});
    if (part && !part->reserve({0, length})) part.reset();
    return part;
}

bool NodeShare::make_reduction(Rank self) {
    auto memory = reserved(0, NodeReduction::bytes_needed(rank_count_));
    if (!memory) return false;
    reduction_memory_ = std::move(*memory);
    reduction_ =
        std::make_unique<NodeReduction>(reduction_memory_.data(), self, rank_count_, *doorbells_);
    return true;
}

std::optional<Mapping> NodeShare::messages() const {
    return reserved(reduction_bytes(rank_count_), NodeNetwork::bytes_needed(rank_count_));
}

}  // namespace sluice
