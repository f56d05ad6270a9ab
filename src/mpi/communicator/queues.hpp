// Queues are the operation queues of a communicator: a file takes one while it is open, and later
// files use it again.
#pragma once
#include "file/run/operation_queue.hpp"
#include "file/run/staging_memory.hpp"
#include "system/clock.hpp"
#include "system/mapping.hpp"
#include "transport/shared_file_pointer.hpp"

#include <memory>
#include <vector>

namespace sluice {

class Team;

/// An operation queue and where it runs. Its rounds go on counting from one file to the next.
struct QueuePlace {
    Mapping memory;  ///< Of the queue's region.
    ExecutionContext execution_context;
    std::unique_ptr<StagingMemory> staging;
    std::unique_ptr<OperationQueue> queue;
    /// Null where the ranks are on several nodes: the MPI has the pointer.
    std::unique_ptr<SharedFilePointer> shared_pointer;
    bool used = false;  ///< By a file, also by a closed one that is not complete on all ranks.
    std::vector<Rank> aggregators;           ///< Where a user placed them; else empty.
    std::unique_ptr<Topology const> placed;  ///< With these aggregators.

    /// The next file is on this machine; null: on one that nobody measured. Only while unused.
    void set_machine(std::shared_ptr<MachineProfile const> const& machine);
};

class Queues {
public:
    /// What a queue takes of a node's memory, where so many of all ranks are on the node.
    [[nodiscard]] static std::size_t bytes_needed(Rank local_count, Rank ranks) noexcept;

    /// `team` owns this. `key`: of the proof of coverage; null: nothing is proved.
    Queues(Team& team, std::shared_ptr<FingerprintKey const> key);

    /// Makes the first one. False, on all ranks, where one has no addresses for it, or says that it
    /// is not `ready`. Collective.
    bool begin(bool ready);

    /// The lowest one that no file uses: the same everywhere as long as files are opened and
    /// closed in the same order on all ranks, which several threads of a rank may break. Null, on
    /// all ranks, when there are too many. `aggregators`: see settings/placement.hpp; empty: as the
    /// library does it. All ranks have met since the last file was closed, because its shared file
    /// pointer is set to zero. Collective.
    QueuePlace* take(std::vector<Rank> const& aggregators);

    /// Of each word all ranks learn the largest. Threads that use other files of the communicator
    /// do not disturb it. Collective over the file, blocks.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine,
                                               QueuePlace const& of_file);

private:
    QueuePlace* unused();
    [[nodiscard]] std::optional<Mapping> map_next() const;
    void add(Mapping memory);
    void stage(QueuePlace& place);
    void place_aggregators(QueuePlace& place, std::vector<Rank> const& aggregators) const;

    Team& team_;
    RegionShape shape_;
    PlanLimits limits_;
    SteadyClock clock_;
    std::size_t most_ = 0;  ///< There is memory for so many on all ranks.
    std::vector<std::unique_ptr<QueuePlace>> places_;
};

}  // namespace sluice
