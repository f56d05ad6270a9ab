// What is drawn of a world, and how its calls are made. See drawn_world.hpp.
#include "drawn_world.hpp"

#include <algorithm>
#include <cerrno>

namespace sluice::swarm {
namespace {

constexpr Offset overlap_begin = 20'000;

simulated::WorldShape draw_shape(Random random, Limits const& limits) {
    simulated::WorldShape shape;
    shape.rank_count = random.between(1, 12);
    auto const per_node = random.between(1, 12);
    shape.aggregators = random.between(1, 6);
    shape.cb_buffer_bytes = random.one_of<Bytes>({4096, 4096, 8192, 16'384, 65'536});
    shape.queue_count = random.chance(30) ? 2 : 1;
    shape.delay_seconds = random.one_of({0.0, 1e-6, 1e-3, 1e-3, 2.0});
    if (random.chance(20)) shape.cb_buffers = random.between(0, 6);
    auto const local_aggregators = static_cast<Rank>(random.chance(20) ? random.between(1, 3) : 0);
    shape.rank_count = std::min(shape.rank_count, static_cast<Rank>(limits.ranks));
    shape.queue_count = std::min(shape.queue_count, static_cast<std::int32_t>(limits.files));
    bool const one_node = !limits.several_nodes || random.chance(40);
    shape.ranks_per_node = one_node ? shape.rank_count : std::min(per_node, shape.rank_count);
    shape.aggregators_most = shape.rank_count;
    if (!one_node) shape.local_aggregators = local_aggregators;
    return shape;
}

}  // namespace

void Counts::add(Counts const& more) noexcept {
    calls += more.calls, failed_calls += more.failed_calls;
    bytes += more.bytes, events += more.events;
    most_events = std::max(most_events, more.most_events);
    storage_faults += more.storage_faults, ended_ranks += more.ended_ranks;
    bad_calls += more.bad_calls;
}

DrawnWorld::DrawnWorld(std::uint64_t seed, Limits const& limits)
    : random_(seed, {}),
      limits_(limits),
      shape_(draw_shape(random_.of(shape_place), limits)) {
    draw_faults(random_.of(faults_place));
    world_ = std::make_unique<simulated::World>(shape_, seed);
    Random contents = random_.of(contents_place);
    is_ordered_ = limits.order && contents.chance(50);
    for (std::int32_t f = 0; f < shape_.queue_count; ++f) {
        auto const size = contents.one_of<Bytes>({0, 10'000, 100'000});
        models_.emplace_back(size, unread);
        auto& file = world_->file(f);
        file.bytes.assign(static_cast<std::size_t>(size), unread);
        file.short_counts = limits.short_counts && contents.chance(50);
        if (f != faults_.failing_file) continue;
        file.fail_at = faults_.fail_at, file.fail_forever = faults_.fail_forever;
        file.fail_errno = faults_.error;
    }
    if (faults_.failing_device >= 0)
        world_->device(faults_.failing_device).fail_after(faults_.copies);
    if (faults_.ends >= 0) world_->kill(faults_.ends, faults_.ends_after);
}

void DrawnWorld::draw_faults(Random random) {
    bool const storage = random.chance(25), ends = random.chance(15), device = random.chance(15);
    auto const file = random.below(shape_.queue_count);
    faults_.fail_at = random.below(random.one_of<std::int64_t>({4, 30, 200}));
    faults_.fail_forever = random.chance(40);
    faults_.error = random.one_of({ENOSPC, EIO, EDQUOT, EROFS, ENOMEM});
    auto const rank = random.below(shape_.rank_count);
    faults_.ends_after = random.below(random.one_of<std::int64_t>({4, 40, 200}));
    faults_.copies = random.below(20);
    if (storage && limits_.storage_faults) faults_.failing_file = file;
    bool const one_node =
        shape_.ranks_per_node >= shape_.rank_count && shape_.local_aggregators == 0;
    if (ends && limits_.ends && one_node && shape_.rank_count > 1) faults_.ends = rank;
    if (device && limits_.devices) faults_.failing_device = rank;
}

Hints DrawnWorld::draw_hints(Random random) const {
    Hints hints;
    if (!limits_.hints || random.chance(40)) return hints;
    using enum Domains;
    hints.domains = random.one_of({automatic, even, cyclic, balanced, groups});
    hints.window_bytes = random.one_of<Bytes>({0, 4096, 16'384});
    hints.stripe_bytes = random.one_of<Bytes>({0, 4096, 8192, 40'000});
    hints.stripe_count = random.below(4);
    hints.aggregator_count = random.below(shape_.rank_count + 1);
    hints.group_count = static_cast<std::uint8_t>(random.below(4));
    for (Delivery* const delivery : {&hints.metadata, &hints.data}) {
        delivery->kernel = static_cast<Kernel>(random.below(6));
        delivery->layers = random.one_of({Layers::automatic, Layers::one, Layers::two});
        delivery->synchronous = static_cast<std::uint8_t>(random.below(2));
        delivery->stride = random.below(4);
        delivery->throttle.messages = random.between(-1, 4);
        delivery->throttle.batches = static_cast<std::uint8_t>(random.below(2));
    }
    return hints;
}

/// Calls that are under way together meet only where they keep their order.
DrawnWorld::Calls DrawnWorld::draw_phase(std::int64_t phase) {
    Random random = random_.of(phases_place + phase);
    auto const count = std::min<std::int64_t>(random.between(1, 6), limits_.calls);
    bool const all_read = !is_ordered_ && random.chance(30);
    std::vector<Offset> next(models_.size(), 0);
    Calls calls;
    for (std::int64_t k = 0; k < count; ++k) {
        Random own = random.of(k);
        auto const file = static_cast<std::size_t>(own.below(std::ssize(models_)));
        bool const reads = all_read || own.chance(40);
        Offset const at = is_ordered_ || all_read ? own.below(overlap_begin) : next[file];
        DrawnCall call = draw_call(own.of(1), reads ? Direction::read : Direction::write, at);
        call.file = static_cast<std::int32_t>(file);
        for (DrawnPart const& part : call.parts)
            next[file] = std::max(next[file], span_of(part.request).end);
        calls.push_back(std::move(call));
    }
    return calls;
}

void DrawnWorld::note_sizes(Calls const& calls) {
    sizes_.clear();
    for (FileModel const& model : models_) sizes_.push_back({model.certain_size(), model.end()});
    for (DrawnCall const& call : calls) {
        Offset& most = sizes_[static_cast<std::size_t>(call.file)].end;
        for (DrawnPart const& part : call.parts)
            if (part.request.direction == Direction::write)
                most = std::max(most, span_of(part.request).end);
    }
}

DrawnWorld::DrawnCall DrawnWorld::draw_call(Random random, Direction way, Offset at) {
    DrawnCall call;
    call.number = next_number_++;
    call.way = way;
    bool const meets = random.chance(20);
    CallLimits const limits{shape_.rank_count, limits_.bytes, limits_.memory_layouts != 0};
    call.parts = draw_parts(random.of(1), limits, at, way, meets);
    call.strategy =
        random.one_of({Strategy::automatic, Strategy::two_phase, Strategy::independent});
    call.hints = draw_hints(random.of(2));
    call.is_delayed = is_ordered_ && way == Direction::write && random.chance(50);
    Random devices = random.of(3);
    bool const may_be_far = limits_.devices && !call.is_delayed;  // The library has copied those.
    for (DrawnPart& part : call.parts) {
        part.on_device = may_be_far && devices.chance(20);
        part.filled_later = may_be_far && way == Direction::write && devices.chance(5);
    }
    // The other ranks' calls must not meet what it writes.
    if (way == Direction::write || is_ordered_) draw_bad_call(random.of(4), call);
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        DrawnPart& part = call.parts[static_cast<std::size_t>(r)];
        if (r == call.bad_rank && call.differs)
            part.request.direction = way == Direction::read ? Direction::write : Direction::read;
        fill(part, call.number, r);
    }
    return call;
}

void DrawnWorld::draw_bad_call(Random random, DrawnCall& call) const {
    bool const is_bad = random.chance(4);
    auto const rank = random.below(shape_.rank_count);
    bool const differs = random.chance(40);
    if (!is_bad || !limits_.bad_calls) return;
    call.bad_rank = rank;
    call.differs = differs && shape_.rank_count > 1;
}

/// Each rank makes its calls of a file in the order of all; between files it changes when it likes.
void DrawnWorld::start(Calls& calls, Random random) {
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        std::vector<std::vector<DrawnCall*>> left(models_.size());
        for (auto call = calls.rbegin(); call != calls.rend(); ++call)
            left[static_cast<std::size_t>(call->file)].push_back(&*call);
        for (std::size_t begun = 0; begun < calls.size(); ++begun) {
            auto file = static_cast<std::size_t>(random.below(std::ssize(left)));
            while (left[file].empty()) file = (file + 1) % left.size();
            start(*left[file].back(), r);
            left[file].pop_back();
        }
    }
}

void DrawnWorld::start(DrawnCall& call, Rank rank) {
    call.operations.push_back(world_->call(rank, call.file, make_call(call, rank)));
}

Call DrawnWorld::make_call(DrawnCall& drawn, Rank rank) {
    DrawnPart& part = drawn.parts[static_cast<std::size_t>(rank)];
    Call call;
    call.request = part.request;
    call.user = part.memory.data();
    if (part.on_device) call.user = world_->device(rank).memory(part.memory.data());
    call.hints = drawn.hints;
    call.hints.write = call.hints.read = drawn.strategy;
    call.ordered = is_ordered_;
    bool const is_bad = rank == drawn.bad_rank;
    if (is_bad && !drawn.differs) call.status = Status::count;
    if (drawn.is_delayed && !is_bad) call.keeps = std::make_shared<int>();
    Request const& request = part.request;
    if (is_ordered_ && request.direction == Direction::read && request.bytes > 0)
        call.reads_beyond_end = span_of(request).end > model(drawn.file).certain_size();
    if (part.filled_later) filled_later_.fill(*world_, rank, part.memory, call);
    return call;
}

std::string DrawnWorld::describe() const {
    std::string text = std::to_string(shape_.rank_count) + " ranks, " +
                       std::to_string(shape_.ranks_per_node) + " a node, " +
                       std::to_string(shape_.queue_count) + " files, buffers of " +
                       std::to_string(shape_.cb_buffer_bytes) + " bytes";
    text += ", " + std::to_string(shape_.aggregators) + " aggregators";
    if (shape_.local_aggregators > 0)
        text += ", " + std::to_string(shape_.local_aggregators) + " local ones a node";
    if (shape_.cb_buffers >= 0)
        text += ", room for " + std::to_string(shape_.cb_buffers) + " buffers a node";
    if (is_ordered_) text += ", calls keep their order";
    if (faults_.failing_file >= 0) {
        text += ", call " + std::to_string(faults_.fail_at) + " to file " +
                std::to_string(faults_.failing_file) + " fails with error " +
                std::to_string(faults_.error) +
                (faults_.fail_forever ? ", and all later ones" : "");
    }
    if (faults_.ends >= 0) {
        text += ", rank " + std::to_string(faults_.ends) + " ends after " +
                std::to_string(faults_.ends_after) + " steps";
    }
    if (faults_.failing_device >= 0) {
        text += ", copy " + std::to_string(faults_.copies) + " of the device of rank " +
                std::to_string(faults_.failing_device) + " fails";
    }
    for (DrawnCall const& call : made_) text += "\n  " + describe(call);
    return text;
}

std::string DrawnWorld::describe(DrawnCall const& call) {
    std::string text = "number " + std::to_string(call.number) + ", " + sluice::describe(call.way) +
                       " on file " + std::to_string(call.file) + ":";
    for (DrawnPart const& part : call.parts) {
        Span const span = span_of(part.request);
        text += " " + std::to_string(part.request.bytes) + " bytes in [" +
                std::to_string(span.begin) + ", " + std::to_string(span.end) + ")";
        if (part.on_device) text += " on a device";
        if (part.filled_later) text += " filled later";
    }
    if (call.is_delayed) text += "; delayed";
    if (call.strategy == Strategy::two_phase) text += "; two-phase";
    if (call.strategy == Strategy::independent) text += "; independent";
    Hints const& hints = call.hints;
    if (!(hints == Hints{})) {
        text += std::string("; domains ") + sluice::describe(hints.domains) + ", windows of " +
                std::to_string(hints.window_bytes) + ", stripes of " +
                std::to_string(hints.stripe_bytes) + ", " + std::to_string(hints.aggregator_count) +
                " aggregators, " + std::to_string(hints.group_count) + " groups, metadata " +
                sluice::describe(hints.metadata) + ", data " + sluice::describe(hints.data);
    }
    if (call.bad_rank >= 0)
        text += "; rank " + std::to_string(call.bad_rank) +
                (call.differs ? " calls another one" : " has bad arguments");
    return text;
}

}  // namespace sluice::swarm
