// The thread that waits, and transfers handed on. See emulated.hpp.
#include "device/model/emulated.hpp"

#include "system/clock.hpp"
#include "system/library_thread.hpp"

#include <algorithm>
#include <limits>
#include <sys/prctl.h>

namespace sluice {
namespace {

/// How late a thread of this process may be woken, and still has queued.
constexpr DeviceGrace grace{200e-6, 0};

/// What somebody waits for.
class Event {
public:
    void happen() {
        // Under the lock: once it is seen, the event may be gone.
        std::lock_guard const lock(mutex_);
        happened_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return happened_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool happened_ = false;
};

}  // namespace

EmulatedDevice::EmulatedDevice(DeviceProfile const& profile, Clock* clock)
    : own_clock_(clock ? nullptr : std::make_unique<SteadyClock>()),
      clock_(clock ? clock : own_clock_.get()),
      device_(profile, clock ? DeviceGrace{} : grace) {}

EmulatedDevice::~EmulatedDevice() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void EmulatedDevice::serve(double arrival, std::span<DeviceAccess const> accesses,
                           std::function<void()> then) {
    std::lock_guard const lock(mutex_);
    double done = arrival;
    for (DeviceAccess const& access : accesses) done = device_.serve(done, access);
    at(done, std::move(then));
}

void EmulatedDevice::flush() {
    Event event;
    {
        std::lock_guard const lock(mutex_);
        at(device_.flush(now()), [&event] { event.happen(); });
    }
    event.wait();
}

/// Under the lock.
void EmulatedDevice::at(double when, std::function<void()> then) {
    due_.push({when, next_number_++, std::move(then)});
    bool const threaded = own_clock_ != nullptr;
    if (threaded && !thread_.joinable())
        thread_ = library_thread("sluice-device", [this] { work(); });
    wake_.notify_all();
}

double EmulatedDevice::advance() {
    std::unique_lock lock(mutex_);
    while (!due_.empty() && due_.top().when <= now()) {
        auto const then = due_.top().then;
        due_.pop();
        lock.unlock();
        then();
        lock.lock();
    }
    return due_.empty() ? std::numeric_limits<double>::infinity() : due_.top().when;
}

void EmulatedDevice::work() {
    // The usual slack of 50 us is as long as a request of a fast device.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    for (;;) {
        advance();
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        if (due_.empty()) {
            wake_.wait(lock);
        } else if (double const left = due_.top().when - now(); left > 0) {
            wake_.wait_for(lock, std::chrono::duration<double>(left));
        }
    }
}

/// A transfer of the program, as the other file sees it: tells what it was asked for.
class EmulatedFile::Relay final : public Transfer {
public:
    Relay(Transfer& original, std::uint64_t file, double arrival)
        : Transfer(original.direction),
          arrival_(arrival),
          original_(original),
          file_(file) {
        exclusive = original.exclusive;
    }
    std::optional<Segment> next() override {
        auto const segment = original_.next();
        if (segment) note(*segment);
        return segment;
    }
    bool next_part() override {
        hand_back();
        bool const goes_on = original_.next_part();
        fail(original_.error);
        return goes_on;
    }
    [[nodiscard]] bool has_parts() const noexcept override { return original_.has_parts(); }
    /// Of the bytes that were transferred.
    [[nodiscard]] std::vector<DeviceAccess> accesses() const {
        std::vector<DeviceAccess> all;
        Bytes left = bytes;
        for (DeviceAccess access : accesses_) {
            access.bytes = std::min(access.bytes, left);
            left -= access.bytes;
            if (access.bytes > 0) all.push_back(access);
        }
        return all;
    }
    void hand_back() {
        original_.error = error;
        original_.bytes = bytes;
        original_.end_of_file = end_of_file;
    }
    [[nodiscard]] Transfer& original() const noexcept { return original_; }
    [[nodiscard]] double arrival() const noexcept { return arrival_; }

private:
    void note(Segment const& s) {
        bool const follows =
            !accesses_.empty() && accesses_.back().offset + accesses_.back().bytes == s.file_offset;
        if (follows)
            accesses_.back().bytes += s.length;
        else
            accesses_.push_back({direction, file_, s.file_offset, s.length});
    }

    double arrival_;
    Transfer& original_;
    std::uint64_t file_;
    std::vector<DeviceAccess> accesses_;
};

struct EmulatedFile::State {
    EmulatedDevice& device;
    std::uint64_t file;
    std::function<void()> finished;
    std::mutex mutex;
    std::vector<std::shared_ptr<Relay>> under_way;  ///< In the other file.

    /// Takes those out that the other file is done with. It does not say which: it rings.
    std::vector<std::shared_ptr<Relay>> take_moved() {
        std::lock_guard const lock(mutex);
        auto const moved = std::stable_partition(under_way.begin(), under_way.end(),
                                                 [](auto const& relay) { return !relay->done; });
        std::vector<std::shared_ptr<Relay>> taken(moved, under_way.end());
        under_way.erase(moved, under_way.end());
        return taken;
    }
    void moved() {
        for (auto const& relay : take_moved()) {
            device.serve(relay->arrival(), relay->accesses(), [relay, ring = finished] {
                relay->hand_back();
                relay->original().done.store(true, std::memory_order_release);
                ring();
            });
        }
    }
};

EmulatedFile::EmulatedFile(EmulatedDevice& device, std::string const& name, Open const& open,
                           std::function<void()> finished)
    : state_(new State{device, std::hash<std::string>{}(name), std::move(finished), {}, {}}),
      file_(open([state = state_] { state->moved(); })) {}

EmulatedFile::~EmulatedFile() = default;

void EmulatedFile::start(Transfer& transfer) {
    auto const relay = std::make_shared<Relay>(transfer, state_->file, state_->device.now());
    {
        std::lock_guard const lock(state_->mutex);
        state_->under_way.push_back(relay);
    }
    file_->start(*relay);
}

void EmulatedFile::run(Transfer& transfer) {
    Relay relay(transfer, state_->file, state_->device.now());
    file_->run(relay);
    Event event;
    state_->device.serve(relay.arrival(), relay.accesses(), [&event] { event.happen(); });
    event.wait();
    relay.hand_back();
}

Error EmulatedFile::sync() {
    Error const error = file_->sync();
    state_->device.flush();
    return error;
}

}  // namespace sluice
