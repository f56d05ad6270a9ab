// The two halves of the emulated device: the clock that makes every caller wait its turn, and the
// bytes of a file in memory. Thread-safe; knows nothing of FUSE. Used by device.cpp only.
#pragma once
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace sluice::device {

using Bytes = std::uint64_t;
using Nanoseconds = std::int64_t;
constexpr Bytes request_bytes_max = Bytes{1} << 20;  // the most that Linux puts into one request
constexpr Bytes chunk_bytes = Bytes{1} << 18;

/// What a reply and the next request cost on their way through the kernel. A caller that comes back
/// within it counts as having queued: that time is the emulation's, not idle time of the device.
constexpr Nanoseconds round_trip = 200'000;

inline Nanoseconds now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

inline void sleep_until(Nanoseconds when) {
    // The default slack of 50 us would be half of a 4 KiB request at 40 MiB/s.
    thread_local bool const precise = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    (void)precise;
    timespec const t{when / 1'000'000'000, when % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
}

/// The one device behind a mount: `queue_depth` requests may wait out their latency side by side;
/// their bytes then pass one after the other. Depth 1: latency + bytes / bandwidth each, in a row.
class Device {
public:
    double bytes_per_second = 0;
    Nanoseconds latency = 0;
    std::vector<Nanoseconds> lane_free_at{0};

    void serve(Bytes bytes) {
        auto const arrival = now();
        Nanoseconds done = 0;
        {
            std::scoped_lock const lock(mutex_);
            auto lane = std::min_element(lane_free_at.begin(), lane_free_at.end());
            auto const start = arrival - *lane < round_trip ? *lane : arrival;
            auto const ready = start + latency;
            auto const transfer = double(bytes) / bytes_per_second * 1e9;
            done = std::max(ready, channel_free_at_) + Nanoseconds(transfer);
            *lane = channel_free_at_ = done;
        }
        sleep_until(done);
    }

private:
    std::mutex mutex_;
    Nanoseconds channel_free_at_ = 0;
};

/// Limits the memory of all files together, so that a runaway test gets ENOSPC, not the OOM killer.
inline std::atomic<Bytes> bytes_left{0};

/// The bytes of one file, in chunks that exist once written; the rest reads as zero.
class Contents {
public:
    Contents() = default;
    Contents(Contents const&) = delete;
    Contents& operator=(Contents const&) = delete;
    ~Contents() { resize(0); }
    [[nodiscard]] Bytes size() const {
        std::shared_lock const lock(mutex_);
        return size_;
    }

    /// False: no memory left. Writers of different places copy side by side.
    bool write(char const* source, Bytes bytes, Bytes offset) {
        if (!reserve(offset, bytes)) return false;
        std::shared_lock const lock(mutex_);
        each_chunk(offset, bytes, [&](char* chunk, Bytes length) {
            if (chunk != nullptr) std::memcpy(chunk, source, length);  // null: truncated meanwhile
            source += length;
        });
        return true;
    }

    [[nodiscard]] std::vector<char> read(Bytes bytes, Bytes offset) {
        std::shared_lock const lock(mutex_);
        std::vector<char> result(offset < size_ ? std::min(bytes, size_ - offset) : 0);
        char* target = result.data();
        each_chunk(offset, result.size(), [&](char const* chunk, Bytes length) {
            if (chunk != nullptr) std::memcpy(target, chunk, length);
            target += length;
        });
        return result;
    }

    void resize(Bytes bytes) {
        std::unique_lock const lock(mutex_);
        auto const kept = (bytes + chunk_bytes - 1) / chunk_bytes;
        for (auto i = kept; i < chunks_.size(); ++i)
            if (chunks_[i]) bytes_left += chunk_bytes;
        if (kept < chunks_.size()) chunks_.resize(kept);
        // Bytes cut off must read as zero if the file grows again.
        if (auto const used = bytes % chunk_bytes;
            used != 0 && kept == chunks_.size() && chunks_.back())
            std::memset(chunks_.back().get() + used, 0, chunk_bytes - used);
        size_ = bytes;
    }

private:
    template <class Function> void each_chunk(Bytes offset, Bytes bytes, Function function) {
        while (bytes > 0) {
            auto const within = offset % chunk_bytes, index = offset / chunk_bytes;
            auto const length = std::min(bytes, chunk_bytes - within);
            bool const present = index < chunks_.size() && chunks_[index];
            function(present ? chunks_[index].get() + within : nullptr, length);
            offset += length, bytes -= length;
        }
    }

    bool reserve(Bytes offset, Bytes bytes) {
        std::unique_lock const lock(mutex_);
        auto const end = (offset + bytes + chunk_bytes - 1) / chunk_bytes;
        if (chunks_.size() < end) chunks_.resize(end);
        for (auto i = offset / chunk_bytes; i < end; ++i) {
            if (chunks_[i]) continue;
            if (bytes_left < chunk_bytes) return false;
            chunks_[i].reset(static_cast<char*>(std::calloc(chunk_bytes, 1)));
            if (!chunks_[i]) return false;
            bytes_left -= chunk_bytes;
        }
        size_ = std::max(size_, offset + bytes);
        return true;
    }

    struct Free {
        void operator()(char* chunk) const { std::free(chunk); }
    };
    mutable std::shared_mutex mutex_;
    std::vector<std::unique_ptr<char[], Free>> chunks_;
    Bytes size_ = 0;
};

}  // namespace sluice::device
