// How threads get their rings, and how these are written. See recorder.hpp.
#include "mpi/events/recorder.hpp"

#include "system/log.hpp"
#include "system/mapping.hpp"

#include <chrono>
#include <pthread.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::seconds between_writes{1};
constexpr std::size_t events_at_once = 4096;
/// Two waits for the same reason are one when no more time lies between them.
constexpr std::int64_t gap_of_a_wait = 20'000;

/// As a row of the trace is called.
std::string own_name() {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    std::string const thread = name;
    return thread.starts_with("sluice-") ? thread.substr(7) : "program";
}

bool goes_on(TraceEvent const& last, TraceEvent const& next) noexcept {
    return last.kind == TraceKind::wait && last.detail == next.detail && last.file == next.file &&
           last.operation == next.operation && last.peer == next.peer && last.round == next.round &&
           last.aggregator == next.aggregator && next.begin - last.end < gap_of_a_wait;
}

}  // namespace

/// What one thread at a time writes. When it has ended another one of the same name goes on.
struct Recorder::Lane {
    Lane(std::string name_of_thread, std::size_t place, Mapping mapping, std::uint32_t events)
        : name(std::move(name_of_thread)),
          number(static_cast<std::uint8_t>(place)),
          memory(std::move(mapping)),
          ring(reinterpret_cast<TraceEvent*>(memory.data()), events) {}

    std::string const name;
    std::uint8_t const number;
    Mapping memory;
    TraceRing ring;
    std::uint64_t written = 0;  ///< Events that have reached the file, or were lost.
    std::atomic<bool> taken{true};
};

/// The calling thread's lane.
class LaneOfThread {
public:
    ~LaneOfThread() {
        if (lane) lane->taken.store(false, std::memory_order_release);
    }
    Recorder::Lane* lane = nullptr;
    bool refused = false;
};

namespace {
thread_local LaneOfThread lane_of_thread;
}

Recorder::Recorder(TracePartFile file, std::unique_ptr<TraceHeader> header, std::uint32_t events,
                   std::string name)
    : file_(std::move(file)),
      path_(std::move(name)),
      events_(events),
      header_(std::move(header)),
      written_header_(std::make_unique<TraceHeader>()) {
    lanes_.reserve(trace_lanes);
    new_events_.reserve(events_at_once);
    header_->began = clock_now();
    gethostname(header_->host, sizeof header_->host - 1);
    std::string const program = program_invocation_name;
    program.copy(header_->program, sizeof header_->program - 1);
    write(false);  // So that a part of a rank that is killed soon is known as one.
    writer_ = library_thread_if_any("sluice-trace", [this] { write_now_and_then(); });
}

bool Recorder::records() const noexcept { return recorder() == this; }

void Recorder::add(TraceEvent const& event) noexcept {
    Lane* const lane = lane_of_thread.lane ? lane_of_thread.lane : take_lane();
    if (lane)
        lane->ring.add(event, lane->number);
    else
        lost_.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::add_wait(TraceEvent const& event) noexcept {
    Lane* const lane = lane_of_thread.lane;
    if (lane && !lane->ring.is_empty() && goes_on(lane->ring.last(), event))
        lane->ring.last().end = event.end;
    else
        add(event);
}

Recorder::Lane* Recorder::take_lane() noexcept try {
    if (std::exchange(lane_of_thread.refused, true)) return nullptr;
    std::string const name = own_name();
    std::lock_guard const lock(tables_);
    for (auto const& lane : lanes_)
        if (lane->name == name && !lane->taken.exchange(true, std::memory_order_acquire))
            return lane_of_thread.lane = lane.get();
    std::size_t const number = lanes_.size();
    auto const bytes = static_cast<Offset>(events_ * sizeof(TraceEvent));
    auto memory = number < trace_lanes ? Mapping::of(-1, {0, bytes}) : std::nullopt;
    if (!memory || !memory->open({0, bytes})) return nullptr;
    memory->prefer_large_pages();  // A fault takes 1.7 us, and a small page 64 events.
    lanes_.push_back(std::make_unique<Lane>(name, number, std::move(*memory), events_));
    header_->lanes[number] = header_->add_name(name);
    return lane_of_thread.lane = lanes_.back().get();
} catch (std::bad_alloc const&) {
    return nullptr;
}

std::uint16_t Recorder::name(std::string const& text) noexcept try {
    std::lock_guard const lock(tables_);
    auto const [place, added] = names_.try_emplace(text, 0);
    if (added) place->second = header_->add_name(text);
    return place->second;
} catch (std::bad_alloc const&) {
    return 0;
}

void Recorder::set_clock(bool last, TraceClock const& clock) noexcept {
    std::lock_guard const lock(tables_);
    (last ? header_->last : header_->first) = clock;
}

void Recorder::write_now_and_then() {
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, between_writes, [this] { return ending_; })) write(false);
}

std::string Recorder::write_lane(Lane& lane, bool all) {
    std::string why;
    do {
        lost_ += lane.ring.take_new(lane.written, all, new_events_);
        why = file_.write(new_events_);
    } while (why.empty() && new_events_.size() == events_at_once);
    return why;
}

/// Allocates nothing: the program may have no more memory. The rank that speaks says why there is
/// no more. The disk may have room again when parts are merged.
void Recorder::write(bool all) {
    if (!works_) return;
    std::size_t count = 0;
    {
        std::lock_guard const lock(tables_);
        count = lanes_.size();
    }
    std::string why;
    for (std::size_t i = 0; i < count && why.empty(); ++i) why = write_lane(*lanes_[i], all);
    {
        std::lock_guard const lock(tables_);
        *written_header_ = *header_;
    }
    written_header_->lost = lost_;
    written_header_->ended = all ? 1 : 0;
    if (why.empty()) why = file_.write(*written_header_);
    if (why.empty()) return;
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
    header_->over = clock_now();
    write(true);
    return works_;
}

}  // namespace sluice
