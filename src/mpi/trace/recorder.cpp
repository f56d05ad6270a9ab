// How threads get their rings, and how these are written. See recorder.hpp.
#include "mpi/trace/recorder.hpp"

#include "system/log.hpp"

#include <chrono>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::seconds between_writes{1};
/// Two waits for the same reason are one when no more time lies between them.
constexpr std::int64_t gap_of_a_wait = 20'000;

std::string own_thread_name() {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}

bool goes_on(TraceEvent const& last, TraceEvent const& next) noexcept {
    return last.kind == TraceKind::wait && last.detail == next.detail && last.file == next.file &&
           last.operation == next.operation && last.peer == next.peer && last.round == next.round &&
           last.aggregator == next.aggregator && next.begin - last.end < gap_of_a_wait;
}

}  // namespace

/// The calling thread's lane. It is another thread's when this one has ended.
class LaneOfThread {
public:
    LaneOfThread() = default;
    LaneOfThread(LaneOfThread const&) = delete;
    LaneOfThread& operator=(LaneOfThread const&) = delete;
    ~LaneOfThread() {
        if (lane_) lane_->taken.store(0, std::memory_order_release);
    }
    void take(TraceLane& lane, TraceRing ring) noexcept {
        lane_ = &lane;
        ring_ = ring;
    }
    [[nodiscard]] TraceRing* ring() noexcept { return ring_ ? &ring_ : nullptr; }

    bool refused = false;

private:
    TraceLane* lane_ = nullptr;
    TraceRing ring_;
};

namespace {
thread_local LaneOfThread lane_of_thread;
}

Recorder::Recorder(std::unique_ptr<TracePartFile> file, TraceHeader const& header, std::string name)
    : file_(std::move(file)),
      path_(std::move(name)),
      tables_(std::make_unique<TraceTables>()) {
    TraceHeader& own = tables_->header;
    own.rank = header.rank, own.ranks = header.ranks;
    own.process = getpid();
    own.events_a_lane = header.events_a_lane;
    own.job = header.job;
    own.began = now();
    gethostname(own.host, sizeof own.host - 1);
    std::string const program = program_invocation_name;
    program.copy(own.program, sizeof own.program - 1);
    writer_ = library_thread_if_any("sluice-trace", [this] { write_now_and_then(); });
}

bool Recorder::records() const noexcept { return recorder() == this; }

std::int64_t Recorder::now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Recorder::add(TraceEvent const& event) noexcept {
    TraceRing* ring = lane_of_thread.ring();
    if (!ring) ring = take_lane();
    if (ring) return ring->add(event);
    tables_->header.lost.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::add_wait(TraceEvent const& event) noexcept {
    TraceRing* const ring = lane_of_thread.ring();
    TraceEvent* const last = ring ? ring->last() : nullptr;
    if (last && goes_on(*last, event))
        last->end = event.end;
    else
        add(event);
}

/// A lane that a thread of the same kind has left goes on.
TraceRing* Recorder::take_lane() noexcept try {
    if (lane_of_thread.refused) return nullptr;
    std::string const thread = own_thread_name();
    std::string name = "program";
    if (thread.starts_with("sluice-")) name = thread.substr(7);
    for (std::uint32_t lane = 0; lane < trace_lanes; ++lane) {
        if (!take_lane(lane, name)) continue;
        TraceLane& own = tables_->lanes[lane];
        lane_of_thread.take(own, {rings_[lane], tables_->header.events_a_lane, own});
        return lane_of_thread.ring();
    }
    lane_of_thread.refused = true;
    return nullptr;
} catch (std::bad_alloc const&) {
    lane_of_thread.refused = true;
    return nullptr;
}

bool Recorder::take_lane(std::uint32_t lane, std::string const& name) noexcept {
    TraceLane& wanted = tables_->lanes[lane];
    bool const is_used = wanted.thread.load(std::memory_order_acquire) != 0;
    if (is_used && name != wanted.name) return false;
    std::uint32_t free = 0;
    if (!wanted.taken.compare_exchange_strong(free, 1, std::memory_order_acq_rel)) return false;
    if (!rings_[lane]) {
        auto const bytes = static_cast<Offset>(tables_->header.events_a_lane * sizeof(TraceEvent));
        auto memory = Mapping::of(-1, {0, bytes});
        if (!memory || !memory->open({0, bytes})) {
            wanted.taken = 0;
            return false;
        }
        memory_[lane] = std::move(*memory);
        memory_[lane].prefer_large_pages();  // A fault takes 1.7 us, and a small page 64 events.
        name.copy(wanted.name, sizeof wanted.name - 1);
        rings_[lane] = reinterpret_cast<TraceEvent*>(memory_[lane].data());
    } else if (name != wanted.name) {  // Another thread was faster.
        wanted.taken = 0;
        return false;
    }
    wanted.thread.store(static_cast<std::int32_t>(syscall(SYS_gettid)), std::memory_order_release);
    return true;
}

std::uint16_t Recorder::name(std::string const& text) noexcept try {
    std::lock_guard const lock(names_mutex_);
    auto const [place, added] = names_.try_emplace(text, 0);
    if (added) place->second = TraceNames(*tables_).add(text);
    return place->second;
} catch (std::bad_alloc const&) {
    return 0;
}

void Recorder::set_clock(bool last, TraceClock const& clock) noexcept {
    (last ? tables_->header.last : tables_->header.first) = clock;
}

void Recorder::write_now_and_then() {
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, between_writes, [this] { return ending_; })) write();
}

/// The rank that speaks says why there is no more. The disk may have room again when parts are
/// merged.
void Recorder::write() {
    std::string why;
    if (!works_ || file_->write(*tables_, rings_, why)) return;
    works_ = false;
    warn("SLUICE_TRACE: the trace ends here: " + why +
         ". The job goes on; what was written is in " + PartsFolder::path_of(path_));
}

bool Recorder::end() {
    {
        std::lock_guard const lock(mutex_);
        ending_ = true;
    }
    ends_.notify_all();
    if (writer_.joinable()) writer_.join();
    std::lock_guard const lock(mutex_);
    tables_->header.over = now();
    write();
    if (works_) tables_->header.ended = 1;
    write();
    return works_;
}

}  // namespace sluice
