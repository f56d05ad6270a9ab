// A Team is what the library sets up once for the ranks of a communicator: a communicator of its
// own, the topology, the memory and the doorbells of the node, and operation queues. It is an
// attribute of the program's communicator. When that is freed, the team serves the next
// communicator of the same ranks.
#pragma once
#include "base/mixed.hpp"
#include "file/run/operation_queue.hpp"
#include "mpi/communicator/job_fabric.hpp"
#include "mpi/communicator/node_memory.hpp"
#include "mpi/communicator/profile.hpp"
#include "mpi/progress/progress.hpp"
#include "system/process_watch.hpp"
#include "transport/node_network.hpp"
#include "transport/node_reduction.hpp"
#include "transport/shared_file_pointer.hpp"

#include <array>
#include <memory>

namespace sluice {

/// An operation queue and where it runs. Files use them one after another; its rounds go on
/// counting.
struct QueuePlace {
    Mapping memory;  ///< Of the operation queue's window; collective buffers are opened when they
                     ///< are used.
    ExecutionContext execution_context;
    std::unique_ptr<OperationQueue> queue;
    /// Null where the ranks are on several nodes: the MPI has the pointer.
    std::unique_ptr<SharedFilePointer> shared_pointer;
    bool used = false;
    std::vector<Rank> aggregators;           ///< Where a user placed them; else empty.
    std::unique_ptr<Topology const> placed;  ///< With these aggregators.
    // On a node's leader: what was wished for last, and what there is.
    StagingWish wish;
    Staging staging;
    /// Aggregators whose counters and claims have memory, by board.
    std::array<std::int32_t, board_count> backed_aggregators{};
    std::vector<Bytes> open_cb_buffers;  ///< How far this rank may touch each.

    /// The next file is on this machine; null: on one that nobody measured. Only while unused.
    void set_machine(std::shared_ptr<MachineProfile const> const& machine);
};

class Team {
public:
    /// The team of a communicator; made at the first call. Collective over `communicator`. Null,
    /// on all ranks, when it cannot be served: then the MPI is left to itself.
    static std::shared_ptr<Team> of(MPI_Comm communicator);

    /// Before MPI goes away: teams of a later session have another key.
    static void forget_all();

    /// A number for the opening of a file, which other openings do not have. Local: another rank
    /// may get another one.
    [[nodiscard]] std::uint64_t new_opening() noexcept { return mixed(name_, ++openings_); }

    /// Calls MPI so that it can make progress on what the program gave it.
    void poke() const;

    explicit Team(MPI_Comm own);
    ~Team();
    Team(Team const&) = delete;
    Team& operator=(Team const&) = delete;

    /// The lowest operation queue that no open file uses: the same everywhere as long as files are
    /// opened and closed in the same order on all ranks, which several threads of a rank may break.
    /// Null, on all ranks, when there are too many. `aggregators`: see file/plan/placement.hpp;
    /// empty: as the library does it. All ranks have met since the last file was closed, as its
    /// shared file pointer is set to zero. Collective.
    QueuePlace* take_queue(std::vector<Rank> const& aggregators);

    /// Of each word all ranks learn the largest: over memory on one node, by the MPI between
    /// several. Blocking. Collective.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine);
    /// The same for one file: threads that use other files of the communicator do not disturb it.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine,
                                               QueuePlace const& of_file);
    /// Memory for a NodeNetwork between the node's ranks, backed; empty where there is none.
    [[nodiscard]] std::span<std::byte> back_messages();
    /// Between nodes, for a communicator of these ranks that `name` names on all of them. Null
    /// where the team has no fabric.
    [[nodiscard]] std::unique_ptr<Network> fabric_network(std::uint64_t name,
                                                          std::vector<Rank> const& ranks) const;
    [[nodiscard]] bool has_fabric() const noexcept { return fabric_.has_value(); }
    [[nodiscard]] Doorbells& doorbells() const noexcept { return *doorbells_; }
    [[nodiscard]] std::int32_t cores_a_node() const noexcept { return limits_.cores_a_node; }

    std::unique_ptr<Topology> topology;
    Rank self = 0;
    /// Between nodes, for files; null where there is one node.
    std::unique_ptr<Network> network;
    MPI_Comm communicator;
    KnownProfiles profiles;  ///< The same on all ranks.
    /// Of all ranks; null where they are on several nodes.
    std::unique_ptr<NodeReduction> reduction;
    /// Between the node's ranks, once a endpoints wants them. It stays with the memory that it
    /// uses, also when the team is revived.
    std::unique_ptr<NodeNetwork> messages;

    /// When a rank of any communicator turns out to be lost, and before its operations end: what is
    /// done first, by the thread that noticed it.
    static void before_going_on(void (*act)());

private:
    static std::shared_ptr<Team> revive(MPI_Comm communicator, bool& is_one_too_many);
    bool set_up();
    void agree_on_name_and_key();
    /// False where there is no network between the nodes.
    bool connect_nodes();
    bool share_memory(MPI_Comm node_communicator);
    void take_memory(NodeMemory memory);
    bool agree_on_queues();
    /// False where the system refuses memory that it needs.
    bool make_reduction();
    QueuePlace* unused_queue();
    /// Addresses for the next operation queue, of which the control part is open; nothing where the
    /// system refuses.
    [[nodiscard]] std::optional<Mapping> map_queue() const;
    void add_queue(Mapping memory);
    /// An error once a rank of the node has ended, or one of another node cannot be reached or has
    /// given up; gives up messages the first time, so that all ranks hear of it.
    Error lost_rank(double now);
    /// Over memory of the node.
    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words const& mine,
                                               NodeReduction& meeting);
    [[nodiscard]] bool hears_of_lost_peer(double now);
    void place_aggregators(QueuePlace& place, std::vector<Rank> const& aggregators) const;
    Staging reserve(QueuePlace& place, StagingWish const& wish);
    bool back_aggregators(QueuePlace& place, StagingWish const& wish) const;
    Staging back_cb_buffers(QueuePlace const& place, StagingWish const& wish) const;
    /// Whether more memory may be taken than SLUICE_MEMORY grants.
    enum class Limit : std::uint8_t { kept, exceeded };
    /// Backs one with memory; false when there is none.
    bool back_cb_buffer(QueuePlace const& place, std::int32_t cb_buffer, Bytes window_bytes,
                        Limit limit) const;
    void open_cb_buffer(QueuePlace& place, std::int32_t cb_buffer, Bytes window_bytes) const;
    /// Of all operation queues of the communicator, on this node.
    [[nodiscard]] std::atomic<Bytes>& staged_bytes() const;

    std::optional<FabricRanks> fabric_;
    std::uint64_t name_ = 0;  ///< The same on all ranks, and of no other team. Never 0.
    std::atomic<std::uint64_t> openings_{0};
    SharedMemory memory_;
    std::size_t queues_ = 0;  ///< That there is memory for.
    std::size_t tail_at_ =
        0;  ///< In the memory, behind the operation queues: the reduction, then messages.
    Mapping reduction_memory_, messages_memory_;
    std::unique_ptr<NodeDoorbells> doorbells_;
    ProcessWatch watch_;  ///< Of the node's ranks, by local index.
    Error lost_;          ///< Once a rank is lost.
    double heard_at_ = 0;
    SteadyClock clock_;
    RegionShape shape_;
    PlanLimits limits_;
    std::vector<std::unique_ptr<QueuePlace>> places_;
};

/// What MPI_Query_thread said; other threads of ours call MPI only with multiple.
void set_thread_multiple(bool multiple) noexcept;
[[nodiscard]] bool thread_multiple() noexcept;

}  // namespace sluice
