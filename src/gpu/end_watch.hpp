// An EndWatch finds the ends of what runs one after the other in a stream: its thread sleeps in the
// driver. Users: copy_lane.hpp, stream_points.hpp.
#pragma once
#include "gpu/work_state.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace sluice {

/// What is given to it comes from one stream at a time.
class EndWatch {
public:
    using Works = std::list<std::shared_ptr<WorkState>>;

    /// `ring`: called by the thread after each end.
    explicit EndWatch(std::function<void()> ring) : ring_(std::move(ring)) {}
    ~EndWatch() { stop(); }
    EndWatch(EndWatch const&) = delete;
    EndWatch& operator=(EndWatch const&) = delete;

    /// Starts the thread where there is none; the system may have no room for one. Calls come one
    /// at a time.
    void start();
    /// Takes the one entry, which has begun, behind those before. Where there is no thread the
    /// entry has ended, and stays. After start(); calls come one at a time.
    void take(Works& entry);
    /// All that it was given has ended.
    [[nodiscard]] bool is_idle();
    /// Waits for that, and ends the thread for good.
    void stop();

private:
    void watch();

    std::function<void()> const ring_;
    std::thread thread_;
    std::mutex mutex_;  ///< Of what follows.
    std::condition_variable wake_;
    Works under_way_;
    bool stopping_ = false;
};

}  // namespace sluice
