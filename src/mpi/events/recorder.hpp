// The Recorder of this process keeps what its threads did in rings in memory, one for each thread,
// so that nobody waits for another one. A thread of its own copies what is new to the rank's part
// of the trace once a second: a device that is slow then delays no call, and what a rank did is
// known also when it was killed.
#pragma once
#include "events/tracer.hpp"
#include "system/clock.hpp"
#include "system/library_thread.hpp"
#include "system/trace_file.hpp"

#include <condition_variable>
#include <map>
#include <mutex>

namespace sluice {

/// Never destroyed: threads of the process may still add events when no more are wanted.
class Recorder final : public Tracer {
public:
    /// `header` says which rank of which job this is. `events`: of the ring of a thread. `name`: of
    /// the trace, for messages.
    Recorder(TracePartFile file, std::unique_ptr<TraceHeader> header, std::uint32_t events,
             std::string name);

    [[nodiscard]] bool records() const noexcept override;
    [[nodiscard]] std::int64_t now() noexcept override { return clock_now(); }
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
    struct Lane;

    Lane* take_lane() noexcept;
    void write_now_and_then();
    void write(bool all);
    [[nodiscard]] std::string write_lane(Lane& lane, bool all);

    TracePartFile file_;
    std::string const path_;
    std::uint32_t const events_;
    std::mutex tables_;  ///< Guards the next three; held for moments only.
    std::unique_ptr<TraceHeader> header_;
    std::map<std::string, std::uint16_t> names_;
    std::vector<std::unique_ptr<Lane>> lanes_;  ///< With room for all of them.
    std::atomic<std::uint64_t> lost_{0};
    std::mutex mutex_;  ///< Guards the fields below; not held by who adds events.
    std::condition_variable ends_;
    bool ending_ = false, works_ = true;
    std::vector<TraceEvent> new_events_;
    std::unique_ptr<TraceHeader> written_header_;
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
