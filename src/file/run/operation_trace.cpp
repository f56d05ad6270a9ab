// What of an operation goes into which fields of an event. See operation_trace.hpp.
#include "file/run/operation_trace.hpp"

namespace sluice {
namespace {

/// User memory and what is asked of it; the rest lies in collective buffers and messages.
TraceKind kind_of_copy(Op const& op) noexcept {
    if (op.target == Memory::message) return TraceKind::pack;
    if (op.source == Memory::message) return TraceKind::unpack;
    return op.target == Memory::user ? TraceKind::copy_out : TraceKind::copy_in;
}

void set_round(Op const& op, TraceEvent& event) noexcept {
    bool const of_round = is_of_round(op.channel);
    if (!of_round && op.channel != Channel::claims) return;
    event.aggregator = static_cast<std::int16_t>(op.aggregator);
    if (of_round) event.round = static_cast<std::int32_t>(op.round);
}

TraceWait wait_for_counter(Op const& op) noexcept {
    switch (op.counter) {
    case CounterKind::turn:
        return TraceWait::cb_buffer;
    case CounterKind::posted:
        return TraceWait::copies;
    case CounterKind::arrived:
    case CounterKind::announced:
        return op.channel == Channel::agreement ? TraceWait::ends : TraceWait::calls;
    case CounterKind::claimed:
    case CounterKind::collected:
        return TraceWait::claims;
    case CounterKind::taken:
    case CounterKind::answered:
        return TraceWait::message;
    }
    return TraceWait::unknown;
}

}  // namespace

TraceWait trace_wait_of(Op const& op) noexcept {
    if (op.kind == OpKind::await) return wait_for_counter(op);
    if (op.kind == OpKind::send || op.kind == OpKind::recv) return TraceWait::message;
    if (op.kind == OpKind::write || op.kind == OpKind::read) return TraceWait::file;
    return TraceWait::unknown;
}

TraceEvent OperationTrace::event(TraceKind kind, double began, double ended) const noexcept {
    return {.begin = nanoseconds(began),
            .end = nanoseconds(ended),
            .operation = operation_,
            .file = to_->file,
            .kind = kind};
}

void OperationTrace::operation(TraceKind kind, Bytes bytes, double began,
                               double ended) const noexcept {
    auto whole = event(kind, began, ended);
    whole.bytes = bytes;
    to_->tracer->add(whole);
}

void OperationTrace::stage(TraceKind kind, double began, double ended) const noexcept {
    if (kind != TraceKind::none) to_->tracer->add(event(kind, began, ended));
}

void OperationTrace::round(std::int32_t aggregator, std::int64_t round, double began,
                           double ended) const noexcept {
    auto part = event(TraceKind::round, began, ended);
    part.aggregator = static_cast<std::int16_t>(aggregator);
    part.round = static_cast<std::int32_t>(round);
    to_->tracer->add(part);
}

void OperationTrace::copy(Op const& op, double began, double ended) const noexcept {
    auto copied = event(kind_of_copy(op), began, ended);
    set_round(op, copied);
    if (op.peer >= 0) copied.peer = to_->world_rank(op.peer);
    to_->tracer->add(copied);
}

void OperationTrace::transfer(Op const& op, Transfer const& transfer, double began,
                              double ended) const noexcept {
    bool const write = op.kind == OpKind::write;
    auto moved = event(write ? TraceKind::transfer_write : TraceKind::transfer_read, began, ended);
    bool const of_round = (write ? op.source : op.target) != Memory::user;
    if (of_round) set_round(op, moved);
    moved.bytes = transfer.bytes;
    to_->tracer->add(moved);
}

void OperationTrace::message(Op const& op, std::int64_t number, Bytes bytes,
                             End const& end) const noexcept {
    bool const sends = op.kind == OpKind::send;
    auto message = event(sends ? TraceKind::send : TraceKind::receive, end.began, end.ended);
    set_round(op, message);
    message.bytes = bytes;
    message.peer = to_->world_rank(op.peer);
    auto const what = (static_cast<std::uint64_t>(number) << 20U) +
                      (static_cast<std::uint64_t>(op.aggregator) << 4U) +
                      static_cast<std::uint64_t>(op.channel);
    message.flow = to_->flow(sends ? end.self : op.peer, sends ? op.peer : end.self, what);
    to_->tracer->add(message);
}

void OperationTrace::wait(Op const* op, TraceEvent& event) const noexcept {
    event.file = to_->file;
    event.operation = operation_;
    if (!op) return;
    event.detail = static_cast<std::uint8_t>(trace_wait_of(*op));
    set_round(*op, event);
    if (op->kind != OpKind::await && op->peer >= 0) event.peer = to_->world_rank(op->peer);
}

}  // namespace sluice
