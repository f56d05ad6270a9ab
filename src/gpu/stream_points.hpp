// Points in the streams of the program: whether all is done that it had given to a stream before.
// The streams go on meanwhile, and nothing of the library's runs in them. Users:
// driver_devices.hpp.
#pragma once
#include "gpu/end_watch.hpp"
#include "gpu/stream_point.hpp"

#include <list>
#include <mutex>
#include <thread>

namespace sluice {

/// Of one driver. Any thread. Outlives its points.
class StreamPoints {
public:
    /// `ring`: called by a thread of the library when a stream has come to a point.
    StreamPoints(GpuDriver& driver, std::function<void()> ring) noexcept
        : driver_(driver),
          ring_(std::move(ring)) {}

    /// Where the stream's end is now. Null, with an error, where the driver says no. Does not block
    /// where the system gives a thread.
    std::shared_ptr<StreamPoint> end_of(GpuStream stream, Error& error);

private:
    /// A stream. Handles of default streams are those of all contexts, or of all threads.
    struct Key {
        GpuStream stream = nullptr;
        GpuContext context;
        std::thread::id thread;
        bool operator==(Key const&) const = default;
    };
    /// Streams come to their points at any time, so one thread cannot wait for two of them.
    struct Watched {
        explicit Watched(std::function<void()> const& ring) : ends(ring) {}
        Key key;
        EndWatch ends;
    };
    GpuResult begin(Key& key, EndWatch::Works& entry);
    EventPool& events_of(GpuContext context);
    EndWatch& watch_of(Key const& key);

    GpuDriver& driver_;
    std::function<void()> const ring_;
    std::mutex mutex_;
    std::list<EventPool> events_;  ///< One for each context.
    std::list<Watched> watches_;
};

}  // namespace sluice
