// A NodeShare is what the ranks of a node share: their doorbells, and one file in memory with parts
// for operation queues, for reductions and for messages.
#pragma once
#include "system/peer_process.hpp"
#include "transport/doorbell.hpp"
#include "transport/node_reduction.hpp"

#include <memory>
#include <mpi.h>
#include <optional>
#include <vector>

namespace sluice {

class NodeShare {
public:
    static constexpr std::size_t queues_at_most = 128;  ///< Files of a communicator open at once.

    /// The node's leader makes the file. All ranks attach it, and each other's doorbells, through
    /// /proc; where one of them cannot, descriptors are handed over through sockets. Null, on all
    /// ranks, where that fails as well. `doorbell`: the page of this process. Collective, blocks.
    [[nodiscard]] static std::unique_ptr<NodeShare>
    among(MPI_Comm node, SharedMemory const& doorbell, std::size_t queue_bytes);
    /// Of a rank that is a node of its own.
    [[nodiscard]] static std::unique_ptr<NodeShare> of_one_rank(std::size_t queue_bytes);

    [[nodiscard]] Rank rank_count() const noexcept { return rank_count_; }
    [[nodiscard]] Doorbells& doorbells() const noexcept { return *doorbells_; }
    /// The ranks' processes, by local index; empty for one rank.
    [[nodiscard]] std::vector<ProcessAddress> const& processes() const noexcept {
        return processes_;
    }

    /// There is memory for so many operation queues: for fewer where the system limits files.
    [[nodiscard]] std::size_t queue_count() const noexcept { return queue_count_; }
    /// Addresses of a queue's part, of which nothing is open. Nothing where the system refuses.
    [[nodiscard]] std::optional<Mapping> queue(std::size_t number) const;
    /// Whether this rank made the file in a file system, whose pages can be refused one by one.
    [[nodiscard]] bool reserves_pages() const noexcept { return file_.is_in_file(); }

    /// False where the system refuses memory. `self`: the local index.
    [[nodiscard]] bool make_reduction(Rank self);
    /// Of all ranks of the node; null unless make_reduction() has made it.
    [[nodiscard]] NodeReduction* reduction() const noexcept { return reduction_.get(); }
    /// Memory for a NodeNetwork of all ranks, reserved. Nothing where the system refuses.
    [[nodiscard]] std::optional<Mapping> messages() const;

    NodeShare(Rank rank_count, std::size_t queue_bytes) noexcept;

private:
    void make_file();
    [[nodiscard]] std::optional<Mapping> reserved(std::size_t at, std::size_t bytes) const;

    Rank rank_count_;
    std::size_t queue_bytes_, queue_count_ = queues_at_most;
    SharedMemory file_;  ///< Unmapped. By default it stands for memory of this rank alone.
    std::unique_ptr<NodeDoorbells> doorbells_;
    std::vector<ProcessAddress> processes_;
    Mapping reduction_memory_;
    std::unique_ptr<NodeReduction> reduction_;
};

}  // namespace sluice
