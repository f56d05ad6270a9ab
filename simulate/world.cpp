// The ports of simulated ranks, and the order in which things happen. See world.hpp.
#include "simulate/world.hpp"

#include "simulate/index.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sluice::simulated {
namespace {

Topology topology_of(WorldShape const& shape) {
    std::vector<std::int32_t> names;
    for (Rank r = 0; r < shape.rank_count; ++r) names.push_back(r / shape.ranks_per_node);
    Topology const nodes(names);
    return shape.local_aggregators > 0 ? nodes.divided(shape.local_aggregators) : nodes;
}

/// One call to the file: part of what was asked, or an error.
long transfer(File& file, Time& time, Direction direction, iovec const* vectors, int count,
              Offset offset) {
    std::int64_t const number = file.calls++;
    bool const hit = file.fail_at >= 0 &&
                     (number == file.fail_at || (file.fail_forever && number > file.fail_at));
    if (hit) {
        errno = file.fail_errno;
        return -1;
    }
    std::size_t asked = 0;
    for (int i = 0; i < count; ++i) asked += vectors[i].iov_len;
    if (file.short_counts && asked > 1) asked = 1 + time.draw(asked);
    auto const at = static_cast<std::size_t>(offset);
    if (direction == Direction::read)
        asked = at >= file.size() ? 0 : std::min(asked, file.size() - at);
    else if (file.size() < at + asked)
        file.grow(at + asked);
    if (!file.is_stored) return static_cast<long>(asked);
    std::size_t done = 0;
    for (int i = 0; i < count && done < asked; ++i) {
        std::size_t const part = std::min(vectors[i].iov_len, asked - done);
        std::byte* const here = file.bytes.data() + at + done;
        if (direction == Direction::write)
            std::memcpy(here, vectors[i].iov_base, part);
        else
            std::memcpy(vectors[i].iov_base, here, part);
        done += part;
    }
    return static_cast<long>(done);
}

/// What a message's handle says: which letter, and which half of it.
constexpr std::uint64_t handle_of(LetterId id, bool is_send) noexcept {
    return std::uint64_t{id} << 1 | (is_send ? 1 : 0);
}

}  // namespace

/// While it lives, the work is that of the twins.
class World::Pause {
public:
    explicit Pause(World& world) : world_(world.meter_ && world.current_ >= 0 ? &world : nullptr) {
        if (world_) world_->meter_->end(world_->current_);
    }
    ~Pause() {
        if (world_) world_->meter_->begin(world_->current_);
    }
    Pause(Pause const&) = delete;
    Pause& operator=(Pause const&) = delete;

private:
    World* world_;
};

class World::RankDoorbells final : public Doorbells {
public:
    RankDoorbells(World& world, Rank self) : world_(world), node_(world.topology_.node_of(self)) {}
    void ring(Rank local) override {
        Pause const pause(world_);
        world_.wake(world_.topology_.rank_at(node_, local));
    }

private:
    World& world_;
    Node node_;
};

class World::RankNetwork final : public Network {
public:
    RankNetwork(World& world, Rank self) : world_(world), self_(self) {}
    Message start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                       bool synchronous) override {
        Pause const pause(world_);
        LetterId const id = world_.mail_.send(self_, peer, tag, bytes, synchronous);
        if (world_.model_->leaves_at_once(static_cast<Bytes>(bytes.size()), synchronous)) {
            world_.mail_.keep(id);
            world_.done(static_cast<Bytes>(bytes.size()), 0);
        }
        world_.post(id, true);
        return {handle_of(id, true)};
    }
    Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) override {
        Pause const pause(world_);
        LetterId const id = world_.mail_.recv(peer, self_, tag, bytes);
        world_.post(id, false);
        return {handle_of(id, false)};
    }
    bool finished(Message& message) override {
        auto const id = static_cast<LetterId>(message.handle >> 1);
        if ((message.handle & 1) != 0) return world_.mail_.send_finished(id);
        return world_.mail_.recv_finished(id, message.received);
    }

private:
    World& world_;
    Rank self_;
};

class World::RankStorage final : public Storage {
public:
    RankStorage(World& world, Rank self, File& file, std::uint64_t number)
        : world_(world),
          self_(self),
          file_(file),
          file_number_(number) {}
    void run(Transfer& what) override {
        calls_.clear();
        transfer_all(what, [this](Direction way, iovec const* vectors, int count, Offset offset) {
            long const bytes = transfer(file_, world_.time_, way, vectors, count, offset);
            calls_.push_back({way, file_number_, offset, std::max(bytes, 0L)});
            return bytes;
        });
    }
    void start(Transfer& what) override {
        Pause const pause(world_);
        world_.ask_for_transfer(self_, *this, what);
    }
    /// Of the last run().
    [[nodiscard]] std::span<DeviceAccess const> calls() const noexcept { return calls_; }

private:
    World& world_;
    Rank self_;
    File& file_;
    std::uint64_t file_number_;
    std::vector<DeviceAccess> calls_;
};

struct World::RankState {
    RankState(World& world, Rank self)
        : doorbells(world, self),
          network(world, self),
          device(world.time_, world, self, world.shape_.delay_seconds),
          collectives({&network, [] { return true; }}) {}
    RankDoorbells doorbells;
    RankNetwork network;
    SimulatedDevice device;
    Collectives collectives;
    std::vector<std::unique_ptr<ExecutionContext>> execution_contexts;
    std::vector<std::unique_ptr<OperationQueue>> queues;
    std::vector<std::unique_ptr<RankStorage>> storages;
    std::deque<std::shared_ptr<Operation>> calls;  ///< Of the first operation queue, not complete.
    Account account;
    bool awake = false;
};

World::World(WorldShape shape, std::uint64_t seed)
    : World(shape, seed, std::make_unique<RandomModel>(shape.delay_seconds)) {}

World::World(WorldShape shape, std::uint64_t seed, std::unique_ptr<Model> model)
    : shape_(shape),
      time_(seed),
      key_(FingerprintKey::of_seed(seed)),
      topology_(topology_of(shape)),
      model_(std::move(model)),
      mail_(shape.rank_count, *this),
      files_(index(shape.queue_count)),
      region_memory_(index(shape.queue_count)) {
    model_->attach(time_, mail_);
    shape_.aggregators = std::min(shape.aggregators, topology_.aggregator_count_max());
    for (auto& nodes : region_memory_) {
        for (Node node = 0; node < topology_.node_count(); ++node) {
            // Pages come into being when they are touched: collective buffers that nobody uses cost
            // nothing.
            auto memory =
                SharedMemory::create_private(SharedRegion::bytes_needed(region_shape(node)));
            if (!memory) throw std::bad_alloc();
            nodes.push_back(std::move(*memory));
        }
    }
    for (Rank r = 0; r < shape.rank_count; ++r) add_rank(r);
}

World::~World() = default;

void World::add_rank(Rank r) {
    auto rank = std::make_unique<RankState>(*this, r);
    Node const node = topology_.node_of(r);
    for (std::int32_t s = 0; s < shape_.queue_count; ++s) {
        auto execution_context = std::make_unique<ExecutionContext>();
        execution_context->topology = &topology_, execution_context->self = r,
        execution_context->rank_in_job = r, execution_context->queue = s;
        execution_context->region = region(s, node);
        execution_context->doorbells = &rank->doorbells,
        execution_context->network = &rank->network, execution_context->clock = &time_;
        execution_context->work = this;
        execution_context->limits.aggregator_count = shape_.aggregators;
        execution_context->limits.costs = shape_.costs;
        execution_context->limits.machine = shape_.machine;
        execution_context->limits.cores_a_node = shape_.ranks_per_node;
        execution_context->limits.key = key_;
        execution_context->lost_rank = [this, r](double now) { return lost_rank(r, now); };
        stage(*execution_context);
        rank->queues.push_back(std::make_unique<OperationQueue>(*execution_context));
        rank->execution_contexts.push_back(std::move(execution_context));
        rank->storages.push_back(
            std::make_unique<RankStorage>(*this, r, files_[index(s)], index(s)));
    }
    ranks_.push_back(std::move(rank));
}

Storage& World::storage(Rank rank, std::int32_t queue) {
    return *ranks_[index(rank)]->storages[index(queue)];
}

SimulatedDevice& World::device(Rank rank) { return ranks_[index(rank)]->device; }

std::shared_ptr<Operation> World::call(Rank rank, std::int32_t queue, Call what) {
    what.storage = &storage(rank, queue);
    std::int64_t const pieces = piece_count(what.request);
    RankState& state = *ranks_[index(rank)];
    OperationQueue& target = *state.queues[index(queue)];
    auto operation = target.make(std::move(what));
    target.append(operation);
    if (queue == 0) {
        state.calls.push_back(operation);
        double const begin = std::max(time_.now(), state.account.busy_until());
        state.account.busy_until(begin + model_->processor_seconds(0, pieces), time_.now());
        note(rank);
    }
    wake(rank);
    return operation;
}

std::shared_ptr<CollectiveState> World::collective(Rank rank, CollectiveStage stage,
                                                   std::uint64_t number) {
    Collectives& collectives = ranks_[index(rank)]->collectives;
    auto collective = collectives.make(std::move(stage), number);
    collectives.append(collective);
    wake(rank);
    return collective;
}

/// Whoever makes progress looks at everything again before it ends.
void World::wake(Rank rank) {
    RankState& state = *ranks_[index(rank)];
    if (rank == current_ || std::exchange(state.awake, true)) return;
    double const when = later() + model_->wake_seconds();
    time_.at(std::max(when, state.account.busy_until()), *this,
             static_cast<std::uint32_t>(Event::progress), static_cast<std::uint64_t>(rank));
}

void World::happened(std::uint32_t kind, std::uint64_t subject) {
    switch (static_cast<Event>(kind)) {
    case Event::progress:
        return progress(static_cast<Rank>(subject));
    case Event::post_send:
        mail_.post_send(static_cast<LetterId>(subject));
        return model_->posted(static_cast<LetterId>(subject));
    case Event::post_recv:
        mail_.post_recv(static_cast<LetterId>(subject));
        return model_->posted(static_cast<LetterId>(subject));
    case Event::transfer:
        return begin_transfer(subject);
    case Event::served:
        return serve_next(subject);
    case Event::transferred:
        return finish_transfer(subject);
    }
}

void World::progress(Rank rank) {
    RankState& state = *ranks_[index(rank)];
    state.awake = false;
    if (has_ended(rank)) return;
    current_ = rank;
    if (meter_) meter_->begin(rank);
    for (bool again = true; again;) {
        again = false;
        for (auto& queue : state.queues) again |= queue->progress();
        again |= state.collectives.progress();
    }
    if (meter_) meter_->end(rank);
    current_ = -1;
    if (spent_ > 0) state.account.busy_until(later(), time_.now());
    spent_ = 0;
    note(rank);
    if (rank == mortal_ && --lives_for_ == 0) let_end();
}

/// What the rank is busy with from now on.
void World::note(Rank rank) {
    RankState& state = *ranks_[index(rank)];
    while (!state.calls.empty() && state.calls.front()->complete()) state.calls.pop_front();
    double const now = time_.now();
    state.account.messages(mail_.counts(rank).under_way, now);
    Stage stage = Stage::complete;
    if (!state.calls.empty()) {
        stage = state.calls.front()->stage();
        if (stage == Stage::waiting) stage = Stage::summary_exchange;  // It plans, or is about to.
    }
    if (stage != state.account.stage()) state.account.enter(stage, now);
}

/// What a rank's processor does delays all that it starts behind it.
void World::post(LetterId id, bool is_send) {
    auto const kind = is_send ? Event::post_send : Event::post_recv;
    if (spent_ > 0) {
        time_.at(later(), *this, static_cast<std::uint32_t>(kind), id);
        return;
    }
    happened(static_cast<std::uint32_t>(kind), id);
}

void World::done(Bytes copied, std::int64_t pieces) {
    spent_ += model_->processor_seconds(copied, pieces);
}

void World::ask_for_transfer(Rank rank, RankStorage& storage, Transfer& what) {
    if (pending_free_.empty()) {
        pending_free_.push_back(pending_.size());
        pending_.emplace_back();
    }
    std::size_t const number = pending_free_.back();
    pending_free_.pop_back();
    pending_[number] = {rank, &storage, &what, {}};
    ranks_[index(rank)]->account.transfers(+1, time_.now());
    time_.at(model_->transfer_begin() + spent_, *this, static_cast<std::uint32_t>(Event::transfer),
             number);
}

void World::begin_transfer(std::size_t number) {
    Pending& one = pending_[number];
    one.storage->run(*one.transfer);
    if (model_->serves_calls_apart()) {
        auto const calls = one.storage->calls();
        one.calls.assign(calls.rbegin(), calls.rend());
        return serve_next(number);
    }
    double const end = model_->transfer_end(one.storage->calls());
    if (end <= time_.now()) return finish_transfer(number);
    time_.at(end, *this, static_cast<std::uint32_t>(Event::transferred), number);
}

/// One call after the other, so that those of other ranks come in between, as at a real device.
void World::serve_next(std::size_t number) {
    auto& calls = pending_[number].calls;
    if (calls.empty()) return finish_transfer(number);
    DeviceAccess const call = calls.back();
    calls.pop_back();
    double const end = model_->transfer_end(std::span(&call, 1));
    time_.at(end, *this, static_cast<std::uint32_t>(Event::served), number);
}

void World::finish_transfer(std::size_t number) {
    Pending const& one = pending_[number];
    ranks_[index(one.rank)]->account.transfers(-1, time_.now());
    one.transfer->done = true;
    pending_free_.push_back(number);
    wake(one.rank);
}

Parts const& World::parts(Rank rank) const noexcept { return ranks_[index(rank)]->account.parts(); }

std::string World::run(std::int64_t events_max) {
    if (!time_.run(events_max)) return "the simulation does not end";
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        if (has_ended(r)) continue;
        auto const& rank = ranks_[index(r)];
        for (auto const& queue : rank->queues) {
            if (!queue->idle()) return "stuck: " + queue->describe();
        }
        if (!rank->collectives.idle()) return "stuck: " + rank->collectives.describe();
    }
    return ended_at_ < 0 ? mail_.first_fault() : std::string();
}

}  // namespace sluice::simulated
