// When a call's event is written. See traced_call.hpp.
#include "mpi/events/traced_call.hpp"

namespace sluice {
namespace {

/// A call that did nothing but took longer is worth an event.
constexpr std::int64_t long_call = 20'000;

thread_local TracedCall* innermost = nullptr;

}  // namespace

void TracedCall::begin(TracedName& name, Keep keep) noexcept {
    outer_ = innermost;
    innermost = this;
    keep_ = keep;
    new (&event_) TraceEvent{
        .begin = recorder_->now(), .kind = TraceKind::call, .detail = name.place(*recorder_)};
}

void TracedCall::end() noexcept {
    innermost = outer_;
    event_.end = recorder_->now();
    bool const left_out = keep_ == Keep::where_it_did_something && event_.operation < 0 &&
                          event_.end - event_.begin < long_call;
    if (!left_out) recorder_->add(event_);
}

void TracedCall::note(std::uint16_t file, std::int64_t operation, std::int64_t bytes) noexcept {
    if (!innermost) return;
    TraceEvent& event = innermost->event_;
    event.file = file;
    event.operation = operation;
    event.bytes = bytes;
}

}  // namespace sluice
