// What is drawn of a world, and how its calls are made. See drawn_world.hpp.
#include "drawn_world.hpp"

#include <algorithm>
#include <cerrno>

namespace sluice::swarm {
namespace {

/// Places of the parts of a world in its lot.
enum Place : std::uint64_t { shape_place, faults_place, contents_place, phases_place = 100 };

constexpr Offset overlap_begin = 20'000;

simulated::WorldShape draw_shape(Lot lot, Limits const& limits) {
    simulated::WorldShape shape;
    shape.rank_count = static_cast<Rank>(lot.between(1, 12));
    auto const per_node = static_cast<Rank>(lot.between(1, 12));
    shape.aggregators = static_cast<std::int32_t>(lot.between(1, 6));
    shape.cb_buffer_bytes = lot.one_of<Bytes>({4096, 4096, 8192, 16'384, 65'536});
    shape.queue_count = lot.chance(30) ? 2 : 1;
    shape.delay_seconds = lot.one_of({0.0, 1e-6, 1e-3, 1e-3, 2.0});
    if (lot.chance(20)) shape.cb_buffers = static_cast<std::int32_t>(lot.between(0, 6));
    auto const local_aggregators = static_cast<Rank>(lot.chance(20) ? lot.between(1, 3) : 0);
    shape.rank_count = std::min(shape.rank_count, limits.ranks);
    shape.queue_count = std::min(shape.queue_count, limits.files);
    bool const one_node = !limits.several_nodes || lot.chance(40);
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
    device_faults += more.device_faults, bad_calls += more.bad_calls;
}

DrawnWorld::DrawnWorld(std::uint64_t seed, Limits const& limits)
    : lot_(seed),
      limits_(limits),
      shape_(draw_shape(lot_.of(shape_place), limits)) {
    draw_faults(lot_.of(faults_place));
    world_ = std::make_unique<simulated::World>(shape_, seed);
    Lot contents = lot_.of(contents_place);
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

void DrawnWorld::draw_faults(Lot lot) {
    bool const storage = lot.chance(25), ends = lot.chance(15), device = lot.chance(15);
    auto const file = static_cast<std::int32_t>(lot.below(shape_.queue_count));
    faults_.fail_at = lot.below(lot.one_of<std::int64_t>({4, 30, 200}));
    faults_.fail_forever = lot.chance(40);
    faults_.error = lot.one_of({ENOSPC, EIO, EDQUOT, EROFS, ENOMEM});
    auto const rank = static_cast<Rank>(lot.below(shape_.rank_count));
    faults_.ends_after = lot.below(lot.one_of<std::int64_t>({4, 40, 200}));
    faults_.copies = lot.below(20);
    if (storage && limits_.storage_faults) faults_.failing_file = file;
    bool const one_node =
        shape_.ranks_per_node >= shape_.rank_count && shape_.local_aggregators == 0;
    if (ends && limits_.ends && one_node && shape_.rank_count > 1) faults_.ends = rank;
    if (device && limits_.devices) faults_.failing_device = rank;
}

Hints DrawnWorld::draw_hints(Lot lot) const {
    Hints hints;
    if (!limits_.hints || lot.chance(40)) return hints;
    using enum Domains;
    hints.domains = lot.one_of({automatic, even, cyclic, balanced, groups});
    hints.window_bytes = lot.one_of<Bytes>({0, 4096, 16'384});
    hints.stripe_bytes = lot.one_of<Bytes>({0, 4096, 8192, 40'000});
    hints.stripe_count = static_cast<std::int32_t>(lot.below(4));
    hints.aggregator_count = static_cast<std::int32_t>(lot.below(shape_.rank_count + 1));
    hints.group_count = static_cast<std::uint8_t>(lot.below(4));
    for (Delivery* const delivery : {&hints.metadata, &hints.data}) {
        delivery->kernel = static_cast<Kernel>(lot.below(6));
        delivery->layers = lot.one_of({Layers::automatic, Layers::one, Layers::two});
        delivery->synchronous = static_cast<std::uint8_t>(lot.below(2));
        delivery->stride = static_cast<std::int32_t>(lot.below(4));
        delivery->throttle.messages = static_cast<std::int32_t>(lot.between(-1, 4));
        delivery->throttle.batches = static_cast<std::uint8_t>(lot.below(2));
    }
    return hints;
}

/// Calls that are under way together meet only where they keep their order.
DrawnWorld::Calls DrawnWorld::draw_phase(int phase) {
    Lot lot = lot_.of(phases_place + static_cast<std::uint64_t>(phase));
    auto const count = std::min<std::int64_t>(lot.between(1, 6), limits_.calls);
    bool const all_read = !is_ordered_ && lot.chance(30);
    std::vector<Offset> next(models_.size(), 0);
    Calls calls;
    for (std::int64_t k = 0; k < count; ++k) {
        Lot own = lot.of(static_cast<std::uint64_t>(k));
        auto const file = static_cast<std::size_t>(own.below(std::ssize(models_)));
        bool const reads = all_read || own.chance(40);
        Offset const at = is_ordered_ || all_read ? own.below(overlap_begin) : next[file];
        DrawnCall call = draw_call(own.of(1), reads ? Direction::read : Direction::write, at);
        call.file = static_cast<std::int32_t>(file);
        for (DrawnPart const& part : call.parts)
            next[file] = std::max(next[file], span_of(part.request).end);
        described_.push_back(describe(call));
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

DrawnWorld::DrawnCall DrawnWorld::draw_call(Lot lot, Direction way, Offset at) {
    DrawnCall call;
    call.number = next_number_++;
    call.way = way;
    bool const meets = lot.chance(20);
    CallLimits const limits{shape_.rank_count, limits_.bytes, limits_.memory_layouts};
    call.parts = draw_parts(lot.of(1), limits, at, way, meets);
    call.strategy = lot.one_of({Strategy::automatic, Strategy::two_phase, Strategy::independent});
    call.hints = draw_hints(lot.of(2));
    call.is_delayed = is_ordered_ && way == Direction::write && lot.chance(50);
    Lot devices = lot.of(3);
    bool const may_be_far = limits_.devices && !call.is_delayed;  // The library has copied those.
    for (DrawnPart& part : call.parts) {
        part.on_device = may_be_far && devices.chance(20);
        part.filled_later = may_be_far && way == Direction::write && devices.chance(5);
    }
    // The other ranks' calls must not meet what it writes.
    if (way == Direction::write || is_ordered_) draw_bad_call(lot.of(4), call);
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        DrawnPart& part = call.parts[static_cast<std::size_t>(r)];
        if (r == call.bad_rank && call.differs)
            part.request.direction = way == Direction::read ? Direction::write : Direction::read;
        fill(part, call.number, r);
    }
    return call;
}

void DrawnWorld::draw_bad_call(Lot lot, DrawnCall& call) const {
    bool const is_bad = lot.chance(4);
    auto const rank = static_cast<Rank>(lot.below(shape_.rank_count));
    bool const differs = lot.chance(40);
    if (!is_bad || !limits_.bad_calls) return;
    call.bad_rank = rank;
    call.differs = differs && shape_.rank_count > 1;
}

/// Each rank makes its calls of a file in the order of all; between files it changes when it likes.
void DrawnWorld::start(Calls& calls, Lot lot) {
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        std::vector<std::vector<DrawnCall*>> left(models_.size());
        for (auto call = calls.rbegin(); call != calls.rend(); ++call)
            left[static_cast<std::size_t>(call->file)].push_back(&*call);
        for (std::size_t begun = 0; begun < calls.size(); ++begun) {
            auto file = static_cast<std::size_t>(lot.below(std::ssize(left)));
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
    if (part.filled_later) fill_later(part, rank, call);
    return call;
}

/// Until the device has filled it, memory has other bytes.
void DrawnWorld::fill_later(DrawnPart& part, Rank rank, Call& call) {
    if (part.memory.empty()) return;
    auto const& source =
        sources_.emplace_back(std::make_unique<std::vector<std::byte>>(part.memory));
    std::ranges::fill(part.memory, std::byte{0xAA});
    simulated::SimulatedDevice& device = world_->device(rank);
    auto const to = device.memory(part.memory.data()).address();
    auto const from = UserMemory(source->data()).address();
    call.after = device.start(Direction::read, {{to, from, std::ssize(*source)}});
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
    for (auto const& call : described_) text += "\n  " + call;
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
