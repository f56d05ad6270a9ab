// The ranks of a communicator, set up once: a communicator of our own, the topology, the memory and
// the bells of the node, and a number of streams. Kept as an attribute of the user's communicator;
// when that is freed, for the next one of the same ranks: libraries duplicate one for each file.
#pragma once
#include "file/run/stream.hpp"
#include "mpi/communicator/node_memory.hpp"
#include "mpi/communicator/profile.hpp"
#include "mpi/progress/progress.hpp"
#include "transport/mpi.hpp"
#include "transport/node_network.hpp"
#include "transport/node_reduction.hpp"

#include <memory>

namespace sluice {

/// A stream and where it runs. Files use them one after another; its cycles go on counting.
struct StreamPlace {
    Mapping memory;  ///< Of the stream's window; slots are opened when they are used.
    Site site;
    std::unique_ptr<Stream> stream;
    bool used = false;
    std::vector<Rank> aggregators;           ///< Where a user placed them; else empty.
    std::unique_ptr<Topology const> placed;  ///< With these aggregators.
    Bytes reserved_slot_bytes = 0;           ///< On a node's leader: backed by memory.
    std::int32_t reserved_aggregators = 0;
    Bytes open_slot_bytes = 0;  ///< Of slots that this rank may touch.
    std::int32_t open_aggregators = 0;

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

    /// Calls MPI so that it can make progress on what the program gave it.
    void poke() const;

    explicit Team(MPI_Comm own) : network(own), communicator(own) {}
    ~Team();
    Team(Team const&) = delete;
    Team& operator=(Team const&) = delete;

    /// The lowest stream that no open file uses: the same everywhere as long as files are opened
    /// and closed in the same order on all ranks, which several threads of a rank may break. Null,
    /// on all ranks, when there are too many.
    /// `aggregators`: see file/plan/placement.hpp; empty: as the library does it. Collective.
    StreamPlace* take_stream(std::vector<Rank> const& aggregators);

    /// Memory for a NodeNetwork between the node's ranks, backed; empty where there is none.
    [[nodiscard]] std::span<std::byte> back_messages();
    [[nodiscard]] Bells& bells() const noexcept { return *bells_; }
    [[nodiscard]] std::int32_t cores_a_node() const noexcept { return limits_.cores_a_node; }

    std::unique_ptr<Topology> topology;
    Rank self = 0;
    MpiNetwork network;
    MPI_Comm communicator;
    KnownProfiles profiles;  ///< The same on all ranks.
    /// Of all ranks; null where they are on several nodes.
    std::unique_ptr<NodeReduction> reduction;
    /// Between the node's ranks, once a fabric wants them. It stays with the memory that it uses,
    /// also when the team is revived.
    std::unique_ptr<NodeNetwork> messages;

private:
    static std::shared_ptr<Team> revive(MPI_Comm communicator);
    bool set_up();
    void agree_on_name_and_key();
    bool share_memory(MPI_Comm node_communicator);
    void take_memory(NodeMemory memory);
    bool agree_on_streams();
    /// False where the system refuses memory that it needs.
    bool make_reduction();
    StreamPlace* unused_stream();
    /// Addresses for the next stream, of which the control part is open; nothing where the system
    /// refuses.
    [[nodiscard]] std::optional<Mapping> map_stream() const;
    void add_stream(Mapping memory);
    void place_aggregators(StreamPlace& place, std::vector<Rank> const& aggregators) const;
    Bytes reserve(StreamPlace& place, std::int32_t aggregators, Bytes slot_bytes);
    /// Backs the slots with memory; false when the system has none.
    bool back(StreamPlace const& place, std::int32_t aggregators, Bytes slot_bytes) const;
    void open_slots(StreamPlace& place, std::int32_t aggregators, Bytes slot_bytes) const;

    std::uint64_t name_ = 0;  ///< The same on all ranks, and of no other team. Never 0.
    SharedMemory memory_;
    std::size_t streams_ = 0;  ///< That there is memory for.
    std::size_t tail_at_ = 0;  ///< In the memory, behind the streams: the reduction, then messages.
    Mapping reduction_memory_, messages_memory_;
    std::unique_ptr<NodeBells> bells_;
    SteadyClock clock_;
    WindowShape shape_;
    PlanLimits limits_;
    std::vector<std::unique_ptr<StreamPlace>> places_;
    Bytes memory_left_ = 0;
};

/// What MPI_Query_thread said; other threads of ours call MPI only with multiple.
void set_thread_multiple(bool multiple) noexcept;
[[nodiscard]] bool thread_multiple() noexcept;

}  // namespace sluice
