// How clocks are aligned, and how a ring is read while it is written. See part.hpp.
#include "events/part.hpp"

#include <limits>

namespace sluice {

bool TraceHeader::is_sane() const noexcept {
    constexpr std::uint64_t room_most = std::uint64_t{1} << 32U;
    bool const has_times = is_moment(began) && is_moment(over) &&
                           std::ranges::all_of(std::array{first, last}, [](TraceClock const& one) {
                               return is_moment(one.at) && is_moment(one.offset);
                           });
    bool const has_rank = rank >= 0 && rank < std::numeric_limits<std::int32_t>::max();
    return has_times && has_rank && room > 0 && room <= room_most;
}

std::int64_t TraceHeader::aligned(std::int64_t moment) const noexcept {
    bool const twice = last.error >= 0 && last.at > first.at;
    if (!twice) return moment + first.offset;
    double const share =
        static_cast<double>(moment - first.at) / static_cast<double>(last.at - first.at);
    double const drift = share * static_cast<double>(last.offset - first.offset);
    constexpr auto most = static_cast<double>(trace_moment_end);
    return moment + first.offset + static_cast<std::int64_t>(std::clamp(drift, -most, most));
}

/// The thread may be writing the event behind its last one, in the place of the oldest: that one
/// and all older ones count as overwritten.
std::uint64_t TraceRing::take_new(std::uint64_t& seen, bool all, std::vector<TraceEvent>& to) {
    to.clear();
    std::uint64_t end = written_.load(std::memory_order_acquire);
    bool const goes_on = !all && end > seen && events_[(end - 1) % room_].kind == TraceKind::wait;
    if (goes_on) --end;
    std::uint64_t const first = std::max(seen, end - std::min<std::uint64_t>(end, room_ - 1));
    end = std::min<std::uint64_t>(end, first + to.capacity());
    for (std::uint64_t at = first; at < end; ++at) to.push_back(events_[at % room_]);
    // Adding nothing is a release, so no copy above is made after it. The thread sanitizer knows no
    // fences, which would do the same.
    std::uint64_t const now = written_.fetch_add(0, std::memory_order_acq_rel);
    std::uint64_t const whole = now < room_ ? 0 : now - room_ + 1;
    std::uint64_t const begin = std::clamp(whole, first, end);
    to.erase(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(begin - first));
    std::uint64_t const lost = begin - seen;
    seen = end;
    return lost;
}

}  // namespace sluice
