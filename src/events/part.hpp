// The part of one rank in a trace, as it lies in the file of the same layout: a header, and behind
// it a ring of events of all threads. In memory each thread has a ring of its own, from which the
// part is written. All numbers are in the order of this machine's bytes.
#pragma once
#include "events/event.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::array<char, 8> trace_magic = {'S', 'L', 'U', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t trace_version = 2;
inline constexpr std::uint32_t trace_lanes = 64;
inline constexpr std::uint32_t trace_names_bytes = 64 << 10;

/// Moments of clocks and offsets between them, in nanoseconds, are not as far from 0 as this, 18
/// years: sums of a few of them are numbers.
inline constexpr std::int64_t trace_moment_end = std::int64_t{1} << 59;

[[nodiscard]] constexpr bool is_moment(std::int64_t value) noexcept {
    return value > -trace_moment_end && value < trace_moment_end;
}

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
    std::uint32_t ended = 0;  ///< 1: the rank wrote all; 0: it was killed, or is at work.
    std::uint64_t job = 0;    ///< The same on all ranks of a job.
    std::uint64_t room = 0, written = 0;  ///< Events of the ring, and events so far.
    std::uint64_t lost = 0;               ///< Events that did not reach the file.
    std::int64_t began = 0, over = 0;
    TraceClock first, last;  ///< At the begin and at the end.
    char host[64]{}, program[256]{};
    std::uint32_t names_end = 1;
    std::array<std::uint16_t, trace_lanes> lanes{};  ///< Their names; 0: nobody has had the lane.
    std::array<char, trace_names_bytes> names{};     ///< Each with a zero behind it; the first: "".

    /// The place of a new name; 0 where there is no more room.
    [[nodiscard]] std::uint16_t add_name(std::string_view name) noexcept {
        if (names_end + name.size() + 1 > names.size()) return 0;
        std::uint32_t const begin = names_end;
        name.copy(names.data() + begin, name.size());
        names_end += static_cast<std::uint32_t>(name.size()) + 1;
        return static_cast<std::uint16_t>(begin);
    }
    [[nodiscard]] std::string name(std::uint16_t at) const {
        return {names.data() + at, strnlen(names.data() + at, names.size() - at)};
    }
    /// Whether all numbers may be those of a rank: a file may have been damaged.
    [[nodiscard]] bool is_sane() const noexcept;
    /// Events that are not there: overwritten, or never written.
    [[nodiscard]] std::uint64_t missing() const noexcept {
        return lost + (written > room ? written - room : 0);
    }
    /// A moment of this rank's clock on rank 0's: between the two measurements by a straight line.
    [[nodiscard]] std::int64_t aligned(std::int64_t moment) const noexcept;
};

/// Where the ring begins in the file.
inline constexpr std::uint64_t trace_ring_offset = (sizeof(TraceHeader) + 4095) / 4096 * 4096;

/// A part that was read. Its events are in no order, and those that are not there are of no kind.
struct TracePart {
    TraceHeader header;
    std::vector<TraceEvent> events;
};

/// The newest events of one thread, which alone adds to it. Another thread copies what is new.
class TraceRing {
public:
    TraceRing(TraceEvent* events, std::uint32_t room) noexcept : events_(events), room_(room) {}

    void add(TraceEvent const& event, std::uint8_t lane) noexcept {
        events_[next_] = event;
        events_[next_].lane = lane;
        if (++next_ == room_) next_ = 0;
        written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    [[nodiscard]] bool is_empty() const noexcept {
        return written_.load(std::memory_order_relaxed) == 0;
    }
    /// The last one, of those that are there.
    [[nodiscard]] TraceEvent& last() const noexcept {
        return events_[(next_ == 0 ? room_ : next_) - 1];
    }
    /// Copies what was added since event `seen`, which moves on, as far as `to` has room for it.
    /// Returns how many events were overwritten before. A last event that is a wait may still
    /// become longer, and is left for the next time, unless `all`.
    [[nodiscard]] std::uint64_t take_new(std::uint64_t& seen, bool all,
                                         std::vector<TraceEvent>& to);

private:
    TraceEvent* events_;
    std::uint32_t room_;
    std::uint32_t next_ = 0;                  ///< Where the next event goes: no division for it.
    std::atomic<std::uint64_t> written_ = 0;  ///< Events so far, also those that are overwritten.
};

}  // namespace sluice
