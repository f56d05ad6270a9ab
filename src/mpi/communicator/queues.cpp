// How operation queues are made, taken and used again. See queues.hpp.
#include "mpi/communicator/queues.hpp"

#include "mpi/communicator/team.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Behind the tags of operations' messages (file/run/message_effects.cpp); one for each queue.
constexpr int first_tag = 1 << 14;

RegionShape region_shape_of(Rank local_count, Rank ranks) noexcept {
    return {local_count, ranks, cb_buffer_bytes_most, SharedFilePointer::bytes_needed(local_count)};
}

/// Without a helper: ranks that have not come to this call may wait for this one's operations.
void drive_until_complete(MPI_Request& request) {
    auto const is_complete = [&] {
        int flag = 0;
        return PMPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    };
    Progress::instance().drive({.mpi_done = is_complete, .mpi_often = true});
}

/// A reduction and a broadcast over one binomial tree. Its messages are told from others by their
/// tag: collective calls of the MPI are told by their order on the communicator, in which threads
/// with different files differ from rank to rank.
NodeReduction::Words largest_by_messages(NodeReduction::Words all, Team const& team, int tag) {
    Rank const self = team.self, ranks = team.topology->rank_count();
    auto const count = static_cast<int>(all.size());
    auto const send = [&](Rank to) {
        PMPI_Send(all.data(), count, MPI_UINT64_T, to, tag, team.communicator);
    };
    auto const receive = [&](Rank from) {
        NodeReduction::Words words{};
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Irecv(words.data(), count, MPI_UINT64_T, from, tag, team.communicator, &request);
        if (Progress::needs_callers()) drive_until_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
        return words;
    };
    Rank span = 1;  // Of so many ranks from this one on, `all` has the largest words.
    for (; span < ranks && self % (2 * span) == 0; span *= 2) {
        if (self + span >= ranks) continue;
        auto const theirs = receive(self + span);
        std::ranges::transform(all, theirs, all.begin(), std::ranges::max);
    }
    if (self > 0) {
        send(self - span);
        all = receive(self - span);
    }
    for (span /= 2; span > 0; span /= 2)
        if (self + span < ranks) send(self + span);
    return all;
}

Costs costs_of(MachineProfile const& m) noexcept {
    return {m.between.start, m.between.byte, m.queue, m.copy_byte, m.wake};
}

}  // namespace

/// The plans that the queue remembers were made for another machine.
void QueuePlace::set_machine(std::shared_ptr<MachineProfile const> const& machine) {
    if (execution_context.limits.machine == machine) return;
    execution_context.limits.machine = machine;
    execution_context.limits.costs = machine ? costs_of(*machine) : Costs{};
    queue->forget();
}

std::size_t Queues::bytes_needed(Rank local_count, Rank ranks) noexcept {
    return SharedRegion::bytes_needed(region_shape_of(local_count, ranks));
}

Queues::Queues(Team& team, std::shared_ptr<FingerprintKey const> key)
    : team_(team),
      shape_(region_shape_of(team.node->rank_count(), team.topology->rank_count())) {
    limits_.aggregator_count = aggregators_usual(*team.topology, team.cores_a_node);
    limits_.cores_a_node = team.cores_a_node;
    limits_.key = std::move(key);
}

/// All ranks have as many as the rank with the fewest, so that they run out at the same file.
bool Queues::begin(bool ready) {
    auto first = map_next();
    std::uint64_t const mine = first && ready ? team_.node->queue_count() : 0;
    std::uint64_t least = 0;
    PMPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, team_.communicator);
    most_ = static_cast<std::size_t>(least);
    if (most_ == 0) {
        warn("no memory for staging, or no addresses for it (ulimit -v, -l): the MPI serves files");
        return false;
    }
    if (most_ < NodeShare::queues_at_most) {
        note("the system's limits leave room for " + std::to_string(most_) +
             " open files of a communicator");
    }
    add(std::move(*first));
    return true;
}

QueuePlace* Queues::take(std::vector<Rank> const& aggregators) {
    QueuePlace* const place = unused();
    if (!place) return nullptr;
    place->used = true;
    if (place->shared_pointer) place->shared_pointer->restart();
    if (place->aggregators != aggregators) place_aggregators(*place, aggregators);
    return place;
}

QueuePlace* Queues::unused() {
    auto const found = std::find_if(places_.begin(), places_.end(),
                                    [](auto const& place) { return !place->used; });
    if (found != places_.end()) return found->get();
    if (places_.size() == most_) return nullptr;
    auto memory = map_next();
    if (!all_agree(memory.has_value(), team_.communicator)) {
        most_ = places_.size();
        return nullptr;
    }
    add(std::move(*memory));
    return places_.back().get();
}

/// Addresses for the next queue, with the counters and boards open, which are used before there are
/// collective buffers. Where pages can be refused one by one, the node's leader, who made the file,
/// reserves them. Nothing where the system refuses.
std::optional<Mapping> Queues::map_next() const {
    auto memory = team_.node->queue(places_.size());
    bool const there =
        memory && memory->open(SharedRegion::bookkeeping(shape_)) &&
        (!team_.node->reserves_pages() || memory->reserve(SharedRegion::control(shape_)));
    if (!there) memory.reset();
    return memory;
}

void Queues::add(Mapping memory) {
    places_.push_back(std::make_unique<QueuePlace>());
    QueuePlace& place = *places_.back();
    place.memory = std::move(memory);
    ExecutionContext& context = place.execution_context;
    context.topology = team_.topology.get();
    context.self = team_.self;
    context.rank_in_job = world_rank();
    context.queue = static_cast<std::int32_t>(places_.size() - 1);
    context.region = SharedRegion(place.memory.data(), shape_);
    context.doorbells = &team_.node->doorbells();
    context.network = team_.links.of_files();
    context.clock = &clock_;
    context.limits = limits_;
    context.lost_rank = [this](double now) { return team_.watch->lost_rank(now); };
    stage(place);
    place.queue = std::make_unique<OperationQueue>(context);
    if (team_.topology->node_count() > 1) return;
    place.shared_pointer = std::make_unique<SharedFilePointer>(
        context.region.beside(), context.local(), shape_.local_count, *context.doorbells);
}

void Queues::stage(QueuePlace& place) {
    auto const reserve = [&place](Span const& range) { return place.memory.reserve(range); };
    auto const open = [&place](Span const& range) {
        if (!place.memory.open(range)) warn("the system gives no access to reserved memory");
        if (Network* const network = place.execution_context.network)
            network->hold(
                {place.memory.data() + range.begin, static_cast<std::size_t>(range.bytes())});
    };
    auto& of_all_queues = places_.front()->execution_context.region.pool().staged_bytes;
    place.staging = std::make_unique<StagingMemory>(place.execution_context.region, of_all_queues,
                                                    settings().memory_bytes,
                                                    StagingMemory::System{reserve, open});
    place.staging->serve(place.execution_context);
}

/// No operation is under way in a queue that no file uses. Its plans were made for other
/// aggregators.
void Queues::place_aggregators(QueuePlace& place, std::vector<Rank> const& aggregators) const {
    place.aggregators = aggregators;
    place.execution_context.topology = team_.topology.get();
    place.execution_context.limits = limits_;
    place.placed.reset();
    place.queue->forget();
    if (aggregators.empty()) return;
    place.placed = std::make_unique<Topology const>(team_.topology->with_aggregators(aggregators));
    place.execution_context.topology = place.placed.get();
    place.execution_context.limits.aggregator_count = place.placed->aggregator_count_max();
}

NodeReduction::Words Queues::largest(NodeReduction::Words const& mine, QueuePlace const& of_file) {
    if (of_file.shared_pointer) return team_.largest(mine, of_file.shared_pointer->meeting);
    return largest_by_messages(mine, team_, first_tag + of_file.execution_context.queue);
}

}  // namespace sluice
