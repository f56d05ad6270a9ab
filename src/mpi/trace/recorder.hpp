// The Recorder of this process keeps what its threads did in rings in memory, one for each thread,
// so that nobody waits for another one. A thread of its own copies what is new to the rank's part
// of the trace once a second: a device that is slow then delays no call, and what a rank did is
// known also when it was killed.
#pragma once
#include "system/library_thread.hpp"
#include "system/mapping.hpp"
#include "system/trace_file.hpp"
#include "trace/tracer.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace sluice {

/// Never destroyed: threads of the process may still add events when no more are wanted.
class Recorder final : public Tracer {
public:
    /// `header` says which rank of which job this is, and how long the rings are. `name`: of the
    /// trace, for messages.
    Recorder(std::unique_ptr<TracePartFile> file, TraceHeader const& header, std::string name);

    [[nodiscard]] bool records() const noexcept override;
    [[nodiscard]] std::int64_t now() noexcept override;
    void add(TraceEvent const& event) noexcept override;
    /// The same; one that goes on with the thread's last event, for the same reason, makes that
    /// longer.
    void add_wait(TraceEvent const& event) noexcept;
    /// The place of a name among those of this rank; 0 where there is no room.
    [[nodiscard]] std::uint16_t name(std::string const& text) noexcept;

    /// Of the begin or of the end, by what was measured.
    void set_clock(bool last, TraceClock const& clock) noexcept;
    /// All is written. False where that failed, which was told.
    bool end();

private:
    friend class LaneOfThread;

    TraceRing* take_lane() noexcept;
    bool take_lane(std::uint32_t lane, std::string const& name) noexcept;
    void write_now_and_then();
    void write();

    std::unique_ptr<TracePartFile> file_;
    std::string const path_;
    std::unique_ptr<TraceTables> tables_;
    std::array<Mapping, trace_lanes> memory_;
    std::array<TraceEvent*, trace_lanes> rings_{};
    std::atomic<int> program_threads_{0};
    std::mutex names_mutex_;
    std::map<std::string, std::uint16_t> names_;
    std::mutex mutex_;  ///< Guards the fields below; not held by who adds events.
    std::condition_variable ends_;
    bool ending_ = false;
    bool works_ = true;
    std::thread writer_;
};

inline std::atomic<Recorder*> recorder_at_work{nullptr}, recorder_of_process{nullptr};

/// Null: no trace is wanted now.
[[nodiscard]] inline Recorder* recorder() noexcept {
    return recorder_at_work.load(std::memory_order_acquire);
}
/// Null: no trace is wanted at any time, or it could not be begun.
[[nodiscard]] inline Recorder* recorder_of_all_times() noexcept {
    return recorder_of_process.load(std::memory_order_acquire);
}

}  // namespace sluice
