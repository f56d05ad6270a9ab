// How teams are set up, found again and freed. See team.hpp.
#include "mpi/communicator/team.hpp"

#include "base/mixed.hpp"
#include "file/plan/staging.hpp"
#include "mpi/attribute.hpp"
#include "mpi/communicator/peers.hpp"
#include "mpi/communicator/retired_teams.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"
#include "system/random.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t queues_at_most = 128;  ///< Files of a communicator open at once.

std::atomic<bool> multiple_granted{false};

Attribute<Team> attribute(retire);

/// Of the node's ranks together: each may be bound to a part of them.
int cores_of_all(MPI_Comm node) {
    cpu_set_t mine{}, all{};
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
    PMPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    return CPU_COUNT(&all);
}

RegionShape shape_of(Rank local_count, std::int32_t aggregators) noexcept {
    return {local_count, aggregators, cb_buffer_bytes_most,
            SharedFilePointer::bytes_needed(local_count)};
}

/// Which messages of a team: names of its communicators are larger.
constexpr std::uint64_t of_trial = 1, of_files = 2;

Costs costs_of(MachineProfile const& m) noexcept {
    return {m.between.start, m.between.byte, m.queue, m.copy_byte, m.wake};
}

/// The same ranks in the same order. No duplicate, which has the program's attributes as well: it
/// outlasts the program's communicator, and with that what those attributes point to.
MPI_Comm make_own(MPI_Comm communicator) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm own = MPI_COMM_NULL;
    PMPI_Comm_group(communicator, &group);
    int const code = PMPI_Comm_create(communicator, group, &own);
    PMPI_Group_free(&group);
    return code == MPI_SUCCESS ? own : MPI_COMM_NULL;
}

/// The ranks that share memory with this one, or that pretend to.
MPI_Comm split_by_node(MPI_Comm communicator) {
    int const rank = rank_in(communicator);
    MPI_Comm machine = MPI_COMM_NULL, node = MPI_COMM_NULL;
    PMPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    int const pretended = settings().shared_memory ? settings().ranks_per_node : 1;
    int const color = pretended > 0 ? rank_in(machine) / pretended : 0;
    PMPI_Comm_split(machine, color, rank, &node);
    PMPI_Comm_free(&machine);
    return node;
}

/// Ranks of a node have its lowest rank as their number; those without memory of it their own.
Topology topology_of(MPI_Comm communicator, MPI_Comm node, bool shared) {
    int name = rank_in(communicator);
    if (shared) PMPI_Bcast(&name, 1, MPI_INT, 0, node);
    std::vector<std::int32_t> names(static_cast<std::size_t>(size_in(communicator)));
    PMPI_Allgather(&name, 1, MPI_INT, names.data(), 1, MPI_INT, communicator);
    return Topology(names);
}

/// The groups of its nodes, and in place of `node` the rank's group; nothing where nodes are not
/// divided.
std::optional<Topology> divide(MPI_Comm communicator, MPI_Comm& node) {
    if (settings().local_aggregators <= 0) return std::nullopt;
    auto divided = topology_of(communicator, node, true).divided(settings().local_aggregators);
    PMPI_Comm_free(&node);
    Rank const self = rank_in(communicator);
    PMPI_Comm_split(communicator, divided.node_of(self), self, &node);
    return divided;
}

/// An MPI has few communicators (MPICH 2,048), and takes one for each open file as ROMIO does: the
/// program must be able to open as many as without this library, nearly.
constexpr std::uint32_t teams_at_most = 96;
std::atomic<std::uint32_t> teams{0};  ///< Of this process.

}  // namespace

void set_thread_multiple(bool multiple) noexcept { multiple_granted = multiple; }
bool thread_multiple() noexcept { return multiple_granted; }

std::shared_ptr<Team> Team::of(MPI_Comm communicator) {
    if (auto known = attribute.get(communicator)) return *std::move(known);
    if (!all_have_sluice(communicator)) {
        warn("a communicator has ranks that do not run under Sluice, or with other settings, or "
             "processes of another MPI_COMM_WORLD: the MPI serves its files itself");
        attribute.set(communicator, nullptr);
        return nullptr;
    }
    wait_for_unseen(communicator);
    bool is_one_too_many = false;
    auto team = revive(communicator, is_one_too_many);
    if (is_one_too_many) {
        warn("files of " + std::to_string(teams_at_most) +
             " communicators are open: the MPI serves those of others itself, as each takes one of "
             "the MPI's communicators more");
        return nullptr;
    }
    if (!team) {
        MPI_Comm const own = make_own(communicator);
        if (own == MPI_COMM_NULL) return nullptr;
        PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        team = std::make_shared<Team>(own);
        if (!team->set_up()) team.reset();
    }
    attribute.set(communicator, team);
    return team;
}

/// A retired team of the same ranks in the same order, if all of them have the same one at hand and
/// none has a file of it open: threads may free and open in another order on other ranks.
std::shared_ptr<Team> Team::revive(MPI_Comm communicator, bool& is_one_too_many) {
    auto team = take_retired(communicator);
    std::uint64_t const mine = team ? team->name_ : 0;
    std::uint64_t const names[3]{mine, ~mine, ~std::uint64_t{teams}};
    std::uint64_t least[3]{};
    PMPI_Allreduce(names, least, 3, MPI_UINT64_T, MPI_MIN, communicator);
    if (team && least[0] == mine && least[1] == ~mine) return team;
    is_one_too_many = ~least[2] >= teams_at_most;
    if (team) retire(std::move(team));
    return nullptr;
}

void Team::forget_all() {
    attribute.forget();
    forget_retired_teams();
}

void Team::poke() const { sluice::poke(communicator); }

Team::Team(MPI_Comm own) : communicator(own) { ++teams; }

Team::~Team() {
    --teams;
    messages.reset();  // Before its memory.
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!finalized && communicator != MPI_COMM_NULL) PMPI_Comm_free(&communicator);
}

/// Rank 0 of a team draws its name, which other teams of the same processes must not have, and the
/// key of the proof of coverage. No pattern can have been made for a key that is as young as its
/// communicator's team. Without random numbers it counts.
void Team::agree_on_name_and_key() {
    static std::atomic<std::uint32_t> count{0};
    struct {
        std::uint64_t name = 0;
        FingerprintKey::Point point{};  ///< Zero: the system has no random numbers.
    } ours;
    if (self == 0) {
        SystemRandom random;
        auto const counted = (static_cast<std::uint64_t>(getpid()) << 32) + ++count;
        ours.name = std::max<std::uint64_t>(random().value_or(counted), 1);
        ours.point = draw_generator(random).value_or(FingerprintKey::Point{});
    }
    PMPI_Bcast(&ours, sizeof ours, MPI_BYTE, 0, communicator);
    name_ = ours.name;
    if (is_generator(ours.point)) {
        limits_.key = std::make_shared<FingerprintKey const>(ours.point);
    } else {
        note("no random numbers from the system: coverage is marked, never proved");
    }
}

bool Team::set_up() {
    self = rank_in(communicator);
    agree_on_name_and_key();
    MPI_Comm node = split_by_node(communicator);
    auto divided = divide(communicator, node);
    bool const alone = size_in(node) == 1;
    bool shared = alone || share_memory(node);
    if (!shared) warn("no shared memory on this node: its ranks exchange messages instead", true);
    bool const own_cores = cores_of_all(node) >= size_in(node);
    topology = std::make_unique<Topology>(topology_of(communicator, node, shared));
    PMPI_Comm_free(&node);
    if (divided && divided->node_count() == topology->node_count()) *topology = std::move(*divided);

    int const mine = thread_core_count();
    int least = 0;
    PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, communicator);
    Node const own_node = topology->node_of(self);
    if (topology->node_count() > 1 && !connect_nodes()) return false;
    limits_.aggregator_count = aggregators_usual(*topology, least);
    limits_.cores_a_node = least;
    shape_ = shape_of(topology->local_count(own_node), topology->aggregator_count_max());
    if (alone || !shared) {
        shape_ = shape_of(1, shape_.aggregator_count);
        take_memory(own_node_memory(queues_at_most));
    }
    Progress::instance().allow_spinning(own_cores && settings().ranks_per_node == 0);
    return agree_on_queues();
}

/// Over the MPI its calls are made by the helper.
bool Team::connect_nodes() {
    fabric_ = join_fabric(communicator, *topology, mixed(name_, of_trial));
    if (fabric_) {
        network = fabric_->network(mixed(name_, of_files));
        return true;
    }
    network = std::make_unique<MpiNetwork>(communicator);
    if (all_agree(thread_multiple(), communicator)) return true;
    warn("several nodes need MPI_THREAD_MULTIPLE, which this MPI or program does not give, or "
         "libfabric, which cannot be used here (`sluice info`): the MPI serves the files itself");
    return false;
}

std::unique_ptr<Network> Team::fabric_network(std::uint64_t name,
                                              std::vector<Rank> const& ranks) const {
    return fabric_ ? fabric_->network(mixed(name_, name), ranks) : nullptr;
}

/// All ranks have as many as the one with the fewest, so that they run out at the same file. None
/// has any where one has no addresses for the first.
bool Team::agree_on_queues() {
    auto first = map_queue();
    bool const complete = first && make_reduction();
    auto const mine = static_cast<std::uint64_t>(complete ? queues_ : 0);
    std::uint64_t least = 0;
    PMPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, communicator);
    queues_ = static_cast<std::size_t>(least);
    if (queues_ == 0) {
        warn("no memory for staging, or no addresses for it (ulimit -v, -l): the MPI serves files");
        return false;
    }
    if (queues_ < queues_at_most) {
        note("the system's limits leave room for " + std::to_string(queues_) +
             " open files of a communicator");
    }
    add_queue(std::move(*first));
    return true;
}

void Team::take_memory(NodeMemory memory) {
    memory_ = std::move(memory.windows);
    doorbells_ = std::make_unique<NodeDoorbells>(std::move(memory.doorbells));
    queues_ = memory.queues;
    tail_at_ = memory.tail_at;
    watch_ = ProcessWatch(std::move(memory.processes));
}

bool Team::make_reduction() {
    if (topology->node_count() > 1) return true;
    auto const begin = static_cast<Offset>(tail_at_);
    auto const length = static_cast<Offset>(NodeReduction::bytes_needed(shape_.local_count));
    auto memory = memory_.part({begin, begin + length});
    if (!memory || !memory->reserve({0, length})) return false;
    reduction_memory_ = std::move(*memory);
    reduction = std::make_unique<NodeReduction>(
        reduction_memory_.data(), topology->local_index(self), shape_.local_count, *doorbells_);
    return true;
}

bool Team::share_memory(MPI_Comm node) {
    // The shape needs the whole communicator's size, but only counts of it.
    RegionShape const shape = shape_of(size_in(node), size_in(communicator));
    auto shared =
        share_node_memory(node, Progress::instance().doorbell_page(), shape, queues_at_most,
                          page_bytes(NodeReduction::bytes_needed(shape.local_count)) +
                              NodeNetwork::bytes_needed(shape.local_count));
    if (!shared) return false;
    take_memory(std::move(*shared));
    return true;
}

std::span<std::byte> Team::back_messages() {
    std::size_t const bytes = NodeNetwork::bytes_needed(shape_.local_count);
    std::size_t const at = tail_at_ + page_bytes(NodeReduction::bytes_needed(shape_.local_count));
    auto const begin = static_cast<Offset>(at), length = static_cast<Offset>(bytes);
    auto mapping = memory_.part({begin, begin + length});
    if (!mapping || !mapping->reserve({0, length})) return {};
    messages_memory_ = std::move(*mapping);
    return {messages_memory_.data(), bytes};
}

QueuePlace* Team::take_queue(std::vector<Rank> const& aggregators) {
    QueuePlace* const place = unused_queue();
    if (!place) return nullptr;
    place->used = true;
    if (place->shared_pointer) place->shared_pointer->restart();
    if (place->aggregators != aggregators) place_aggregators(*place, aggregators);
    return place;
}

QueuePlace* Team::unused_queue() {
    auto const unused = std::find_if(places_.begin(), places_.end(),
                                     [](auto const& place) { return !place->used; });
    if (unused != places_.end()) return unused->get();
    if (places_.size() == queues_) return nullptr;
    auto memory = map_queue();
    if (!all_agree(memory.has_value(), communicator)) {
        queues_ = places_.size();
        return nullptr;
    }
    add_queue(std::move(*memory));
    return places_.back().get();
}

/// No operation is under way in an operation queue that no file uses. Its plans were made for
/// others.
void Team::place_aggregators(QueuePlace& place, std::vector<Rank> const& aggregators) const {
    place.aggregators = aggregators;
    place.execution_context.topology = topology.get();
    place.execution_context.limits = limits_;
    place.placed.reset();
    place.queue->forget();
    if (aggregators.empty()) return;
    place.placed = std::make_unique<Topology const>(topology->with_aggregators(aggregators));
    place.execution_context.topology = place.placed.get();
    place.execution_context.limits.aggregator_count = place.placed->aggregator_count_max();
}

/// Plans that it remembers were made for another machine.
void QueuePlace::set_machine(std::shared_ptr<MachineProfile const> const& machine) {
    if (execution_context.limits.machine == machine) return;
    execution_context.limits.machine = machine;
    execution_context.limits.costs = machine ? costs_of(*machine) : Costs{};
    queue->forget();
}

void Team::add_queue(Mapping memory) {
    auto place = std::make_unique<QueuePlace>();
    auto const index = places_.size();
    place->memory = std::move(memory);
    ExecutionContext& execution_context = place->execution_context;
    execution_context.topology = topology.get();
    execution_context.self = self;
    execution_context.rank_in_job = world_rank();
    execution_context.queue = static_cast<std::int32_t>(index);
    execution_context.region = SharedRegion(place->memory.data(), shape_);
    execution_context.doorbells = doorbells_.get();
    execution_context.network = network.get();
    execution_context.clock = &clock_;
    execution_context.limits = limits_;
    place->open_cb_buffers.resize(static_cast<std::size_t>(shape_.cb_buffers()));
    execution_context.reserve = [this, raw = place.get()](StagingWish const& wish) {
        return reserve(*raw, wish);
    };
    execution_context.lost_rank = [this](double now) { return lost_rank(now); };
    execution_context.back_cb_buffer = [this, raw = place.get()](std::int32_t cb_buffer,
                                                                 Bytes window_bytes) {
        return back_cb_buffer(*raw, cb_buffer, window_bytes, Limit::kept);
    };
    execution_context.open_cb_buffer = [this, raw = place.get()](std::int32_t cb_buffer,
                                                                 Bytes window_bytes) {
        auto const at = static_cast<std::size_t>(cb_buffer);
        if (raw->open_cb_buffers[at] < window_bytes) open_cb_buffer(*raw, cb_buffer, window_bytes);
    };
    place->queue = std::make_unique<OperationQueue>(execution_context);
    if (topology->node_count() == 1)
        place->shared_pointer = std::make_unique<SharedFilePointer>(
            execution_context.region.beside(), execution_context.local(), shape_.local_count,
            *doorbells_);
    places_.push_back(std::move(place));
}

}  // namespace sluice
