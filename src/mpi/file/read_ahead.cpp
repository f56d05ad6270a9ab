// How the next read is guessed, and how ranks agree that they guessed right. See read_ahead.hpp.
#include "mpi/file/read_ahead.hpp"

#include "base/copy.hpp"
#include "file/plan/overlap.hpp"
#include "mpi/file/file.hpp"

#include <sys/stat.h>

namespace sluice {
namespace {

/// File systems note the time of a change as coarsely as this: a second one may not show.
constexpr std::int64_t tick_nanoseconds = 20'000'000;

std::int64_t nanoseconds_since(std::timespec const& then) noexcept {
    std::timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - then.tv_sec) * 1'000'000'000 + (now.tv_nsec - then.tv_nsec);
}

std::shared_ptr<BoundedMemory> const& memory_of_rank(Bytes node_bytes) {
    static auto* const only =
        new std::shared_ptr<BoundedMemory>(BoundedMemory::share_of_node(node_bytes));
    return *only;
}

bool same_bytes(PlanKey const& a, PlanKey const& b) noexcept {
    return a.same_as(b) && a.place() == b.place();
}

}  // namespace

ReadAhead::Stamp ReadAhead::stamp() const noexcept {
    struct stat about{};
    if (fstat(fd_, &about) != 0) return {};
    if (nanoseconds_since(about.st_ctim) < tick_nanoseconds) return {};
    return {about.st_ctim, about.st_size};
}

/// Nothing where it would lie before the begin of the file or reach behind its end.
std::optional<Request> ReadAhead::guess(Request const& request, Span all) const {
    Request next = request;
    next.memory = Layout::contiguous();
    if (request.bytes == 0) return next;
    next.view.displacement += step_.value_or(all.bytes());
    struct stat about{};
    Span const reach = reach_of(next);
    bool const inside = next.view.displacement >= 0 && reach.begin >= 0 &&
                        fstat(fd_, &about) == 0 && reach.end <= about.st_size;
    return inside ? std::optional(next) : std::nullopt;
}

bool ReadAhead::is_right(File& file, Prepared const& prepared, Call const& call) const {
    bool const same = call.request.bytes == 0 ? prepared.request.bytes == 0
                                              : same_bytes(prepared.key, PlanKey(call.request));
    if (!same) return false;
    file.wait(*prepared.operation);
    Stamp const now = stamp();
    bool const unchanged = prepared.stamp.bytes >= 0 && now.bytes == prepared.stamp.bytes &&
                           now.changed.tv_sec == prepared.stamp.changed.tv_sec &&
                           now.changed.tv_nsec == prepared.stamp.changed.tv_nsec;
    return unchanged && !dropped_ && prepared.operation->status() == Status::ok &&
           prepared.operation->bytes() == call.request.bytes;
}

std::shared_ptr<Operation> ReadAhead::take(File& file, Call const& call, bool fits) {
    if (!prepared_) return nullptr;
    bool const mine = fits && is_right(file, *prepared_, call);
    bool const all = file.agree_beside(mine ? Status::ok : Status::other) == Status::ok;
    all ? ++statistics_.hits : ++statistics_.misses;
    misses_in_a_row_ = all ? 0 : misses_in_a_row_ + 1;
    file.wait(*prepared_->operation);  // It uses the memory.
    auto const prepared = std::exchange(prepared_, std::nullopt);
    if (!all) return nullptr;
    if (call.request.bytes > 0)
        copy(Cursor(*call.request.memory, 0), call.user, Cursor(*Layout::contiguous(), 0),
             prepared->memory.data, call.request.bytes);
    return prepared->operation;
}

/// Ranks without a guess, or without memory, take part and bring nothing.
void ReadAhead::prepare(File& file, Request const& request, Span all) {
    PlanKey const key = request.bytes > 0 ? PlanKey(request) : PlanKey();
    bool const repeats = last_ && request.bytes > 0 && last_->same_as(key);
    step_ = repeats ? std::optional(key.place() - last_->place()) : std::nullopt;
    last_ = key;
    if (!on()) return;
    auto next = guess(request, all);
    auto const& memory = memory_of_rank(node_bytes_);
    auto part = next && memory ? memory->take(next->bytes) : std::nullopt;
    Prepared prepared;
    Call call;
    call.request.direction = Direction::read;
    prepared.stamp = part ? stamp() : Stamp{};
    if (part) {
        call.request = prepared.request = *next;
        if (next->bytes > 0) prepared.key = PlanKey(*next);
        call.user = part->data;
        prepared.memory = std::move(*part);
        file.wait_for_delayed(reach_of(*next), true);
    }
    dropped_ = false;
    prepared.operation = file.start(std::move(call), true);
    prepared_ = std::move(prepared);
}

void ReadAhead::drop(Span changed) noexcept {
    if (!changed.empty()) dropped_ = true;
}

}  // namespace sluice
