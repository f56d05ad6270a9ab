// How copies are given to the driver. See copy_lane.hpp.
#include "gpu/copy_lane.hpp"

#include "gpu/copy_calls.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace sluice {

namespace {

static_assert(std::is_trivially_copyable_v<Rows>, "tables of rows are copied as bytes");

class LaneCopy final : public DeviceWork {
public:
    explicit LaneCopy(std::shared_ptr<WorkState> state) noexcept : state_(std::move(state)) {}
    /// The memory of a copy under way may not go.
    ~LaneCopy() override { state_->wait(); }
    [[nodiscard]] bool finished() override { return state_->look(); }
    void wait() override { state_->wait(); }
    [[nodiscard]] Error error() const override { return state_->error(); }

private:
    std::shared_ptr<WorkState> state_;
};

}  // namespace

CopyLane::CopyLane(GpuDriver& driver, GpuContext context, HostMemory& memory, Direction way,
                   std::function<void()> ring)
    : driver_(driver),
      context_(context),
      memory_(memory),
      way_(way),
      ring_(ring),
      events_(driver, context),
      ends_(std::move(ring)) {}

CopyLane::~CopyLane() {
    ends_.stop();
    if (stream_) driver_.destroy_stream(context_, stream_);
}

std::unique_ptr<DeviceWork> CopyLane::start(std::vector<Rows> rows) {
    EndWatch::Works entry{std::make_shared<WorkState>(events_)};
    auto copy = std::make_unique<LaneCopy>(entry.front());
    try {
        begin(entry, std::move(rows));
    } catch (std::bad_alloc const&) {  // Nothing was given to the stream.
        entry.front()->fail(Error{.status = Status::no_memory});
        entry.front()->finish({});
    }
    if (!entry.empty()) ring_();
    return copy;
}

/// Leaves the entry where its copy has ended already.
void CopyLane::begin(EndWatch::Works& entry, std::vector<Rows> rows) {
    WorkState& copy = *entry.front();
    std::lock_guard const lock(issuing_);
    GpuResult result = prepare(copy);
    if (!result.failed()) {
        issue(copy, std::move(rows));
        result = copy.begin(stream_);
    }
    result.failed() ? copy.finish(result) : ends_.take(entry);
}

/// Nothing was given to the stream before.
GpuResult CopyLane::prepare(WorkState& copy) {
    if (!stream_) {
        GpuResult const result = driver_.make_stream(context_, stream_);
        if (result.failed()) return result;
    }
    ends_.start();
    return copy.take_event();
}

/// What fails in the midst is told at the end of what began before, which reaches the same memory.
void CopyLane::issue(WorkState& copy, std::vector<Rows> rows) noexcept {
    try {
        GpuResult const result = issue_all(copy, std::move(rows));
        if (result.failed()) copy.fail(result);
    } catch (std::bad_alloc const&) {
        copy.fail(Error{.status = Status::no_memory});
    }
}

GpuResult CopyLane::issue_all(WorkState& copy, std::vector<Rows> rows) {
    auto const held = memory_.held();
    DividedRows divided = divide_rows(way_, std::move(rows), *held);
    if (!divided.by_kernel.empty() && driver_.has_row_kernel(context_)) {
        GpuResult const result = issue_kernels(copy, divided.by_kernel);
        if (result.failed()) return result;
    }
    GpuResult const result = issue_calls(divided.by_call, *held);
    return result.failed() ? result : issue_calls(divided.by_kernel, *held);
}

GpuResult CopyLane::issue_calls(std::vector<Rows> const& rows, HeldRanges const& held) {
    GpuResult result;
    auto const issue_one = [&](Rows const& call) {
        result = driver_.copy(context_, stream_, way_, call);
        return !result.failed();
    };
    for (Rows const& row : rows) {
        if (!for_each_call(way_, row, held, issue_one)) break;
    }
    return result;
}

/// Leaves the rows for which there is no memory that the device reads them from.
GpuResult CopyLane::issue_kernels(WorkState& copy, std::vector<Rows>& rows) {
    constexpr auto most = static_cast<std::size_t>(HostMemory::window_bytes) / sizeof(Rows);
    while (!rows.empty()) {
        auto table = memory_.take_window(context_);
        if (!table) return {};
        std::size_t const now = std::min(rows.size(), most);
        auto const first = rows.end() - static_cast<std::ptrdiff_t>(now);
        std::memcpy(table.get(), &*first, now * sizeof(Rows));
        std::span const shown(reinterpret_cast<Rows const*>(table.get()), now);
        copy.keep(std::move(table));
        GpuResult const result = driver_.copy_rows(context_, stream_, shown);
        if (result.failed()) return result;
        rows.erase(first, rows.end());
    }
    return {};
}

}  // namespace sluice
