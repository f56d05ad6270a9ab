// The part of one rank in a trace, as it lies in memory and in the file of the same layout: a
// header, a table of lanes, names, and for each lane a ring of events. A lane is what one thread at
// a time writes. All numbers are in the order of this machine's bytes.
#pragma once
#include "trace/event.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::array<char, 8> trace_magic = {'S', 'L', 'U', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t trace_version = 1;
inline constexpr std::uint32_t trace_lanes = 64;
inline constexpr std::uint32_t trace_names_bytes = 64 << 10;

/// How this rank's clock was seen to differ from rank 0's: what has to be added to it.
struct TraceClock {
    std::int64_t at = 0;      ///< When that was, by this rank's clock.
    std::int64_t offset = 0;  ///< Nanoseconds.
    std::int64_t error = -1;  ///< At most so many are wrong; -1: it was not measured.
};

struct TraceHeader {
    std::array<char, 8> magic = trace_magic;
    std::uint32_t version = trace_version;
    std::int32_t rank = 0, ranks = 1;
    std::int32_t process = 0;
    std::uint32_t events_a_lane = 0;
    std::uint32_t ended = 0;  ///< 1: the rank wrote all; 0: it was killed, or is at work.
    std::uint64_t job = 0;    ///< The same on all ranks of a job.
    std::int64_t began = 0, over = 0;
    TraceClock first, last;           ///< At the begin and at the end.
    std::atomic<std::uint64_t> lost;  ///< Events that no lane was left for.
    std::atomic<std::uint32_t> names_used;
    std::uint32_t names_end = 0;  ///< Unused.
    char host[64]{};
    char program[256]{};
};

struct TraceLane {
    std::atomic<std::uint64_t> written;  ///< Events so far, also those that are overwritten.
    std::atomic<std::int32_t> thread;    ///< The system's number; 0: nobody has had the lane.
    std::atomic<std::uint32_t> taken;    ///< 1: a thread has it.
    char name[48]{};
};

/// What precedes the rings.
struct TraceTables {
    TraceHeader header;
    std::array<TraceLane, trace_lanes> lanes;
    std::array<char, trace_names_bytes> names{};  ///< Each with a zero behind it; the first: "".
};

/// Where a lane's ring lies in the file.
[[nodiscard]] constexpr std::uint64_t ring_offset(std::uint32_t lane,
                                                  std::uint32_t events_a_lane) noexcept {
    constexpr std::uint64_t page = 4096;
    constexpr std::uint64_t tables = (sizeof(TraceTables) + page - 1) / page * page;
    return tables + std::uint64_t{lane} * events_a_lane * sizeof(TraceEvent);
}

/// The ring of one lane, of which one thread at a time is the writer. Another one may copy what was
/// written; what is overwritten meanwhile it sees torn, and again when it copies the next time.
class TraceRing {
public:
    TraceRing() = default;
    TraceRing(TraceEvent* events, std::uint32_t room, TraceLane& lane) noexcept
        : events_(events),
          room_(room),
          written_(lane.written.load(std::memory_order_relaxed)),
          next_(static_cast<std::uint32_t>(written_ % room)),
          lane_(&lane) {}

    void add(TraceEvent const& event) noexcept {
        events_[next_] = event;
        if (++next_ == room_) next_ = 0;
        lane_->written.store(++written_, std::memory_order_release);
    }
    /// The last one of this thread; null: there is none.
    [[nodiscard]] TraceEvent* last() const noexcept {
        return written_ == 0 ? nullptr : &events_[(next_ == 0 ? room_ : next_) - 1];
    }
    [[nodiscard]] explicit operator bool() const noexcept { return events_ != nullptr; }

private:
    TraceEvent* events_ = nullptr;
    std::uint32_t room_ = 1;
    std::uint64_t written_ = 0;  ///< Of the lane, whose only writer this is.
    std::uint32_t next_ = 0;     ///< Where the next event goes: a division less for each.
    TraceLane* lane_ = nullptr;
};

/// The names of a rank: of files and functions. Added by one thread at a time, and never removed.
class TraceNames {
public:
    explicit TraceNames(TraceTables& tables) noexcept : tables_(tables) {}
    /// The place of a new name; 0 where there is no more room.
    [[nodiscard]] std::uint16_t add(std::string_view name) noexcept {
        std::uint32_t const at = tables_.header.names_used.load(std::memory_order_relaxed);
        std::uint32_t const begin = at == 0 ? 1 : at;
        if (begin + name.size() + 1 > tables_.names.size()) return 0;
        std::memcpy(tables_.names.data() + begin, name.data(), name.size());
        tables_.names[begin + name.size()] = '\0';
        auto const end = static_cast<std::uint32_t>(begin + name.size() + 1);
        tables_.header.names_used.store(end, std::memory_order_release);
        return static_cast<std::uint16_t>(begin);
    }

private:
    TraceTables& tables_;
};

/// A part that was read.
struct TracePart {
    std::int32_t rank = 0, ranks = 1;
    bool ended = false;
    std::uint64_t job = 0;
    std::int64_t began = 0, over = 0;
    TraceClock first, last;
    std::uint64_t lost = 0;  ///< Overwritten, or without a lane.
    std::string host, program, names;
    struct Lane {
        std::string name;
        std::int32_t thread = 0;
        std::vector<TraceEvent> events;  ///< In the order of their ends.
    };
    std::vector<Lane> lanes;

    [[nodiscard]] std::string name(std::uint16_t at) const {
        return at < names.size() ? std::string(names.c_str() + at) : std::string();
    }
    /// A moment of this rank's clock on rank 0's: between the two measurements by a straight line.
    [[nodiscard]] std::int64_t aligned(std::int64_t moment) const noexcept;
};

}  // namespace sluice
