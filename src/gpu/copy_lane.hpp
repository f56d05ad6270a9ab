// Copies of one direction on one device, one after the other in a stream. The directions have a
// stream each, because the bus carries both at a time, and a thread each, which tells of the end of
// a copy though one of the other direction began before and lasts longer.
#pragma once
#include "gpu/end_watch.hpp"
#include "gpu/host_memory.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

/// Stream and thread come with the first copy. Any thread. Outlives its copies.
class CopyLane {
public:
    /// `ring`: called by the lane's thread, or by start(), when a copy has ended.
    CopyLane(GpuDriver& driver, GpuContext context, HostMemory& memory, Direction way,
             std::function<void()> ring);
    ~CopyLane();
    CopyLane(CopyLane const&) = delete;
    CopyLane& operator=(CopyLane const&) = delete;

    /// Device::start(). An error is the copy's.
    std::unique_ptr<DeviceWork> start(std::vector<Rows> rows);

private:
    void begin(EndWatch::Works& entry, std::vector<Rows> rows);
    GpuResult prepare(WorkState& copy);
    void issue(WorkState& copy, std::vector<Rows> rows) noexcept;
    GpuResult issue_all(WorkState& copy, std::vector<Rows> rows);
    GpuResult issue_calls(std::vector<Rows> const& rows, HeldRanges const& held);
    GpuResult issue_kernels(WorkState& copy, std::vector<Rows>& rows);

    GpuDriver& driver_;
    GpuContext const context_;
    HostMemory& memory_;
    Direction const way_;
    std::function<void()> const ring_;
    EventPool events_;

    std::mutex issuing_;  ///< Of the stream and the watch: copies begin one at a time.
    GpuStream stream_ = nullptr;
    EndWatch ends_;
};

}  // namespace sluice
