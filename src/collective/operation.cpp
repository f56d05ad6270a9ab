// What the ops of a collective do, and how its stages follow each other. See operation.hpp.
#include "collective/operation.hpp"

#include <cstring>

namespace sluice {
namespace {

/// MPI grants tags up to 32767: so many calls, with so many kinds of messages each.
constexpr std::uint64_t tags_of_a_call = 64;
constexpr std::uint64_t numbers = 2 * Collective::under_way_most;
static_assert(numbers * tags_of_a_call <= 32768);

/// A rank that has met an error may not have what it should pass on: from then on its messages are
/// empty, which no other message with bytes is.
constexpr Error passed_on{.status = Status::other,
                          .what = "a rank that should have sent this has met an error"};

constexpr Bytes long_copy = 64 << 10;  ///< Takes longer than all else that a start does.

std::span<std::byte> span_of(std::byte* memory, Bytes bytes) noexcept {
    return {memory, static_cast<std::size_t>(bytes)};
}

}  // namespace

void Collective::begin(ScheduleRun schedule_run) {
    schedule_run_ = std::move(schedule_run);
    tag_ = static_cast<int>(number_ % numbers * tags_of_a_call);
    fail(stage_.error);
    begin_stage();
    end_stages();
}

void Collective::begin_stage() {
    if (auto const scratch = static_cast<std::size_t>(stage_.plan->scratch); scratch > 0) {
        scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch);
    }
    schedule_run_.begin(stage_.plan->graph);
}

bool Collective::progress(bool is_start) {
    leaves_copies_ = is_start;
    bool moved = false;
    while (!complete() && schedule_run_.advance(*this)) {
        moved = true;
        end_stages();
    }
    return moved;
}

/// Of those that are complete. Its very end is the last thing that is done: the program may take
/// its memory back at once.
void Collective::end_stages() {
    while (schedule_run_.done() && stage_.next) {
        stage_ = stage_.next(*this);
        begin_stage();
    }
    if (!schedule_run_.done()) return;
    let_go();
    complete_.store(true, std::memory_order_release);
}

/// Of what others may want to be the last to hold.
void Collective::let_go() noexcept {
    if (stage_.buffers.own) stage_.buffers.own.reset();
    if (stage_.buffers.kept) stage_.buffers.kept.reset();
    if (stage_.next) stage_.next = nullptr;
    scratch_.reset();
}

bool Collective::start(Op const& op, Effect& effect) {
    switch (op.kind) {
    case OpKind::copy:
        if (leaves_copies_ && op.bytes >= long_copy) {
            ++copies_left_;
            return false;
        }
        copy(op);
        return true;
    case OpKind::reduce:
        if (stage_.buffers.reduction->calls_mpi() && !execution_context_.may_call_mpi())
            return false;
        reduce(op);
        return true;
    default:
        start_message(op, effect);
        return finish(op, effect);
    }
}

bool Collective::asked_again(Op const& op) const noexcept { return op.kind == OpKind::reduce; }

std::string Collective::standing(Op const&) const {
    return "the operation is the program's own, so it waits for a call of the program's";
}

bool Collective::finish(Op const& op, Effect& effect) {
    if (op.kind == OpKind::copy) {
        if (leaves_copies_) return false;
        --copies_left_;
        copy(op);
        return true;
    }
    if (!execution_context_.network->finished(effect.message)) return false;
    if (effect.message.failed()) fail(effect.message.error(op.peer));
    if (op.kind == OpKind::recv && op.bytes > 0 && effect.message.received == 0) fail(passed_on);
    if (effect.packed.empty()) return true;
    if (op.kind == OpKind::recv && !effect.message.failed()) {
        stage_.buffers.output.unpack(op.target_at, effect.packed);
    }
    effect.packed = {};
    return true;
}

Blocks const& Collective::blocks(Memory role) const noexcept {
    return role == Memory::input ? stage_.buffers.input : stage_.buffers.output;
}

/// Null where the bytes do not lie together.
std::byte* Collective::memory(Memory role, Bytes at, Bytes bytes) noexcept {
    if (role == Memory::scratch) return scratch_.get() + at;
    return blocks(role).contiguous(at, bytes);
}

Collective::Part Collective::read_part(Memory role, Bytes at, Bytes bytes,
                                       std::vector<std::byte>& keep) {
    if (std::byte* const lies_together = memory(role, at, bytes)) return {lies_together, false};
    keep.resize(static_cast<std::size_t>(bytes));
    blocks(role).pack(at, keep);
    return {keep.data(), true};
}

void Collective::copy(Op const& op) {
    if (op.bytes == 0) return;
    std::byte* const to = memory(op.target, op.target_at, op.bytes);
    std::byte* const from = memory(op.source, op.source_at, op.bytes);
    if (from && to) {
        if (from != to) std::memcpy(to, from, static_cast<std::size_t>(op.bytes));
    } else if (to) {
        blocks(op.source).pack(op.source_at, span_of(to, op.bytes));
    } else {
        auto const source = read_part(op.source, op.source_at, op.bytes, left_);
        blocks(op.target).unpack(op.target_at, span_of(source.memory, op.bytes));
    }
}

void Collective::reduce(Op const& op) {
    if (op.bytes == 0) return;
    auto const left = read_part(op.source, op.source_at, op.bytes, left_);
    auto const right = read_part(op.target, op.target_at, op.bytes, right_);
    stage_.buffers.reduction->apply(left.memory, right.memory, op.bytes);
    if (right.is_copy) blocks(op.target).unpack(op.target_at, right_);
}

void Collective::start_message(Op const& op, Effect& effect) {
    int const tag = tag_ + static_cast<int>(op.number % tags_of_a_call);
    if (op.kind == OpKind::send && error_) {
        effect.message = execution_context_.network->start_send(op.peer, tag, {}, op.synchronous);
        return;
    }
    if (op.kind == OpKind::send) {
        auto const part = read_part(op.source, op.source_at, op.bytes, effect.packed);
        effect.message = execution_context_.network->start_send(
            op.peer, tag, span_of(part.memory, op.bytes), op.synchronous);
        return;
    }
    std::byte* to = memory(op.target, op.target_at, op.bytes);
    if (!to) {
        effect.packed.resize(static_cast<std::size_t>(op.bytes));
        to = effect.packed.data();
    }
    effect.message = execution_context_.network->start_recv(op.peer, tag, span_of(to, op.bytes));
}

std::string Collective::describe() const { return schedule_run_.waits_for(*this); }

}  // namespace sluice
