// Copies of one direction on one device, one after the other in a stream. The directions have a
// stream each, because the bus carries both at a time, and a thread each, which tells of the end of
// a copy though one of the other direction began before and lasts longer.
#pragma once
#include "gpu/event_pool.hpp"
#include "gpu/host_memory.hpp"
#include "gpu/lane_copy.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
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
    std::unique_ptr<DeviceCopy> start(std::vector<Rows> rows);

private:
    using Copies = std::list<std::shared_ptr<CopyState>>;

    void begin(Copies& entry, std::vector<Rows> rows);
    GpuResult prepare(CopyState& copy);
    void issue(CopyState& copy, std::vector<Rows> rows) noexcept;
    GpuResult issue_all(CopyState& copy, std::vector<Rows> rows);
    GpuResult issue_calls(std::vector<Rows> const& rows, HeldRanges const& held);
    GpuResult issue_kernels(CopyState& copy, std::vector<Rows>& rows);
    GpuResult hand_over(Copies& entry);
    void watch();
    void stop();

    GpuDriver& driver_;
    GpuContext const context_;
    HostMemory& memory_;
    Direction const way_;
    std::function<void()> const ring_;
    EventPool events_;

    std::mutex issuing_;  ///< Of the stream and the thread: copies begin one at a time.
    GpuStream stream_ = nullptr;
    std::thread watcher_;

    std::mutex mutex_;  ///< Of what follows.
    std::condition_variable wake_;
    Copies under_way_;
    bool stopping_ = false;
};

}  // namespace sluice
