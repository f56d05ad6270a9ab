// A driver of GPUs for tests. Its devices' memory is the processor's, at addresses that the
// processor cannot touch; streams have a thread each, can be stopped, and report errors in order.
#pragma once
#include "gpu/gpu_driver.hpp"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::fake_gpu {

inline constexpr int out_of_memory = 2, invalid_value = 1, lost = 700, refused = 712;
/// Between an address of a device and that of the bytes.
inline constexpr Offset apart = Offset{1} << 50;

/// Memory of a device.
struct Allocation {
    std::vector<std::byte> bytes;
    GpuContext context{1, 0};
    GpuPlace::Kind kind = GpuPlace::Kind::device;
    bool is_named = true;  ///< The driver says where it begins and ends.

    [[nodiscard]] Offset address() const noexcept {
        return reinterpret_cast<Offset>(bytes.data()) + apart;
    }
    [[nodiscard]] Span range() const noexcept {
        return {address(), address() + static_cast<Bytes>(bytes.size())};
    }
};

/// Runs what it is given, in order.
class Stream {
public:
    Stream() : thread_([this] { run(); }) {}
    ~Stream() {
        put([this] { ends_ = true; });
        thread_.join();
    }
    void put(std::function<void()> work) {
        std::lock_guard const lock(mutex_);
        work_.push_back(std::move(work));
        wake_.notify_one();
    }

private:
    void run() {
        while (!ends_) {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return !work_.empty(); });
            auto const work = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            work();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> work_;
    bool ends_ = false;  // Of the thread.
    std::thread thread_;
};

struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t recorded = 0, passed = 0;
    int code = 0;
};

class Driver final : public GpuDriver {
public:
    // What tests look at and set, with no copy under way.
    std::vector<Allocation const*> allocations;
    bool has_kernel = false;
    char const* why_not = nullptr;
    int streams_fail = 0, registering_fails = 0;
    std::int64_t calls = 0, kernels = 0, streams = 0;
    std::int64_t failing_call = -1;          ///< By number: it returns an error.
    GpuStream no_stream = nullptr;           ///< It is not known as one.
    std::vector<GpuStream> default_streams;  ///< Of contexts, whose handle is null.
    std::size_t current = 0;                 ///< The context that a null handle means.
    std::vector<Span> registered;
    std::vector<GpuContext> of_contexts;  ///< Of calls.
    bool refuses_unmatched = true;        ///< Copies across a border of what is registered.

    /// Work that is put into streams waits until it may go on.
    void stop() { set_stopped(true); }
    void go_on() { set_stopped(false); }
    /// From now on all that comes to its end has failed.
    void lose(int code) {
        std::lock_guard const lock(mutex_);
        lost_code_ = code;
    }

    GpuPlace where(Offset address) noexcept override {
        for (Allocation const* one : allocations) {
            if (clip(one->range(), {address, address + 1}).empty()) continue;
            return {one->kind, one->context, one->is_named ? one->range() : Span{}};
        }
        return {};
    }
    [[nodiscard]] char const* cannot_copy() const noexcept override { return why_not; }
    [[nodiscard]] Error error_of(GpuResult failed) const override {
        Status const status = failed.code == out_of_memory   ? Status::no_memory
                              : failed.code == invalid_value ? Status::buffer
                                                             : Status::other;
        return gpu_error(status, failed, failed.code == lost ? "LOST" : nullptr);
    }
    GpuResult make_stream(GpuContext, GpuStream& stream) override {
        if (streams_fail) return {"make_stream", streams_fail};
        std::lock_guard const lock(mutex_);
        ++streams;
        stream = new Stream;
        return {};
    }
    void destroy_stream(GpuContext, GpuStream stream) noexcept override {
        delete static_cast<Stream*>(stream);
    }
    GpuResult make_event(GpuContext, GpuEvent& event) override {
        event = new Event;
        return {};
    }
    void destroy_event(GpuContext, GpuEvent event) noexcept override {
        delete static_cast<Event*>(event);
    }

    GpuResult copy(GpuContext context, GpuStream stream, Direction way, Rows const& row) override {
        std::lock_guard const lock(mutex_);
        of_contexts.push_back(context);
        if (calls++ == failing_call) return {"copy", out_of_memory};
        bool const fits =
            row.count == 1 || (row.target_stride >= row.length && row.source_stride >= row.length);
        if (!fits || (refuses_unmatched && is_unmatched(way, row))) return {"copy", invalid_value};
        put(stream, [row] { move(row); });
        return {};
    }
    bool has_row_kernel(GpuContext) override { return has_kernel; }
    GpuResult copy_rows(GpuContext, GpuStream stream, std::span<Rows const> rows) override {
        std::lock_guard const lock(mutex_);
        ++kernels;
        put(stream, [rows] {
            for (Rows const& row : rows) move(row);
        });
        return {};
    }
    GpuResult record(GpuContext context, GpuStream stream, GpuEvent event) override {
        if (!stream) stream = default_streams[context.context - 1];
        auto* const own = static_cast<Event*>(event);
        std::lock_guard const lock(own->mutex);
        ++own->recorded;
        put(stream, [this, own] {
            int const code = lost_code();
            std::lock_guard const passing(own->mutex);
            own->code = code;
            ++own->passed;
            own->changed.notify_all();
        });
        return {};
    }
    GpuResult query(GpuContext, GpuEvent event, bool& is_past) override {
        auto* const own = static_cast<Event*>(event);
        std::lock_guard const lock(own->mutex);
        is_past = own->passed == own->recorded;
        return {"query", is_past ? own->code : 0};
    }
    GpuResult synchronize(GpuContext, GpuEvent event) override {
        auto* const own = static_cast<Event*>(event);
        std::unique_lock lock(own->mutex);
        own->changed.wait(lock, [&] { return own->passed == own->recorded; });
        return {"synchronize", own->code};
    }
    GpuResult context_of(GpuStream stream, GpuContext& context) override {
        context = {stream ? 1 : 1 + current, 0};
        return {"context_of", stream && stream == no_stream ? invalid_value : 0};
    }
    GpuResult register_host(GpuContext, std::span<std::byte> pages) override {
        std::lock_guard const lock(mutex_);
        auto const begin = reinterpret_cast<Offset>(pages.data());
        Span const range{begin, begin + static_cast<Bytes>(pages.size())};
        for (Span const known : registered) {
            if (!clip(known, range).empty()) return {"register", refused};
        }
        ++asked;
        if (registering_fails) return {"register", registering_fails};
        registered.push_back(range);
        return {};
    }
    std::int64_t asked = 0;  ///< To register.

private:
    static std::byte* byte_at(Offset address) noexcept {
        return reinterpret_cast<std::byte*>(address >= apart ? address - apart : address);
    }
    static void move(Rows const& row) {
        for (std::int64_t i = 0; i < row.count; ++i) {
            std::memcpy(byte_at(row.target + i * row.target_stride),
                        byte_at(row.source + i * row.source_stride),
                        static_cast<std::size_t>(row.length));
        }
    }
    /// Part of it lies in a registered range, and part of it does not.
    bool is_unmatched(Direction way, Rows const& row) const {
        bool const writes = way == Direction::write;
        Offset const begin = writes ? row.target : row.source;
        Offset const stride = writes ? row.target_stride : row.source_stride;
        Span const host{begin, begin + (row.count - 1) * stride + row.length};
        for (Span const known : registered) {
            Span const common = clip(known, host);
            if (!common.empty() && common != host) return true;
        }
        return false;
    }
    void put(GpuStream stream, std::function<void()> work) {
        static_cast<Stream*>(stream)->put([this, work = std::move(work)] {
            {
                std::unique_lock lock(gate_mutex_);
                gate_.wait(lock, [this] { return !stopped_; });
            }
            work();
        });
    }
    void set_stopped(bool stopped) {
        std::lock_guard const lock(gate_mutex_);
        stopped_ = stopped;
        gate_.notify_all();
    }
    int lost_code() {
        std::lock_guard const lock(mutex_);
        return lost_code_;
    }

    std::mutex mutex_, gate_mutex_;
    std::condition_variable gate_;
    bool stopped_ = false;
    int lost_code_ = 0;
};

}  // namespace sluice::fake_gpu
