// Which row each event gets. See rows.hpp.
#include "events/rows.hpp"

#include <map>
#include <span>
#include <tuple>

namespace sluice {
namespace {

using Events = std::vector<TraceEvent>;

constexpr int rows_of_a_class = 1000;
constexpr char const* class_names[] = {"thread", "operations", "rounds of aggregators", "transfers",
                                       "messages"};

bool is_whole(TraceEvent const& event) noexcept {
    return event.kind != TraceKind::none && event.kind <= TraceKind::last &&
           event.end >= event.begin && is_moment(event.begin) && is_moment(event.end) &&
           event.lane < trace_lanes;
}

bool has_no_length(TraceKind kind) noexcept {
    return kind == TraceKind::behind_taken || kind == TraceKind::behind_over;
}

/// Those of a damaged event are cut, so that the sum of many events is a number.
std::int64_t bytes_of(TraceEvent const& event) noexcept {
    return std::clamp<std::int64_t>(event.bytes, 0, std::int64_t{1} << 40);
}

TraceRow row_of(TraceEvent const& event) noexcept { return text_of(event.kind).row; }

/// Outer ones first. Clocks are read in nanoseconds and in seconds, so an inner event may seem to
/// end a little later than the one around it: it is cut.
void nest(std::span<TraceEvent> events) {
    std::ranges::stable_sort(events, {}, [](TraceEvent const& event) {
        return std::tuple(event.begin, -event.end, text_of(event.kind).row);
    });
    std::vector<std::int64_t> ends;  // Of those that are open.
    for (TraceEvent& event : events) {
        while (!ends.empty() && ends.back() <= event.begin) ends.pop_back();
        if (!ends.empty()) event.end = std::min(event.end, ends.back());
        ends.push_back(event.end);
    }
}

std::vector<TraceStep> summed(std::vector<TraceStep> changes) {
    std::ranges::stable_sort(changes, {}, &TraceStep::at);
    std::int64_t value = 0;
    for (TraceStep& step : changes) {
        value += step.value;
        step.value = std::max<std::int64_t>(value, 0);
    }
    return changes;
}

class Arranger {
public:
    explicit Arranger(TracePart const& part) : header_(part.header) {
        for (TraceEvent const& event : part.events)
            if (is_whole(event)) add(event);
    }

    TraceRows arrange() {
        for (std::size_t lane = 0; lane < trace_lanes; ++lane)
            if (header_.lanes[lane] != 0) arrange_lane(lane);
        for (TraceRow const row :
             {TraceRow::operations, TraceRow::rounds, TraceRow::transfers, TraceRow::messages})
            arrange_class(row);
        rows_.bytes_behind = summed(std::move(behind_));
        return std::move(rows_);
    }

private:
    void add(TraceEvent const& event) {
        TraceRow const row = row_of(event);
        if (has_no_length(event.kind))
            behind_.push_back({event.end, event.kind == TraceKind::behind_taken
                                              ? bytes_of(event)
                                              : -bytes_of(event)});
        else
            (row == TraceRow::thread ? threads_[event.lane] : others_[row]).push_back(event);
    }

    void arrange_lane(std::size_t lane) {
        Events& own = threads_[lane];
        std::string const name = header_.name(header_.lanes[lane]);
        nest(own);
        if (name == "program") fill_gaps(own);
        int const row = static_cast<int>(lane) + 1, same = ++lanes_[name];
        rows_.rows.push_back({row, same == 1 ? name : name + " " + std::to_string(same)});
        for (TraceEvent const& event : own) rows_.slices.push_back({event, row});
    }

    /// The program's own time: where no call is.
    void fill_gaps(Events& own) const {
        Events gaps;
        std::int64_t at = header_.began;
        auto const fill = [&](std::int64_t until) {
            if (until > at) gaps.push_back({.begin = at, .end = until, .kind = TraceKind::between});
        };
        for (TraceEvent const& event : own) {
            if (event.kind != TraceKind::call) continue;
            fill(event.begin);
            at = std::max(at, event.end);
        }
        fill(header_.over);
        own.insert(own.end(), gaps.begin(), gaps.end());
        nest(own);
    }

    /// Each in the lowest row that is free when it begins. All stages of an operation lie in its
    /// row, also where its end is not in the trace.
    void arrange_class(TraceRow which) {
        Events& events = others_[which];
        auto const key = [](TraceEvent const& one) { return std::pair(one.file, one.operation); };
        bool const staged = which == TraceRow::operations;
        if (staged) std::ranges::stable_sort(events, {}, key);
        std::vector<std::span<TraceEvent>> groups;  // Each lies in one row.
        for (auto at = events.begin(), end = at; at != events.end(); at = end) {
            end = at + 1;
            while (staged && end != events.end() && key(*end) == key(*at)) ++end;
            nest(groups.emplace_back(at, end));
        }
        std::ranges::stable_sort(groups, {}, [](auto group) { return group.front().begin; });
        int const first = static_cast<int>(which) * rows_of_a_class;
        std::vector<std::int64_t> ends;  // Of what lies in each row.
        std::vector<TraceStep> changes;
        for (auto const group : groups) {
            std::int64_t const begin = group.front().begin;
            std::int64_t const end = std::ranges::max(group, {}, &TraceEvent::end).end;
            auto free =
                std::ranges::find_if(ends, [&](std::int64_t over) { return over <= begin; });
            if (free == ends.end()) free = ends.insert(free, end);
            *free = end;
            int const row = first + static_cast<int>(free - ends.begin());
            for (TraceEvent const& event : group) rows_.slices.push_back({event, row});
            changes.insert(changes.end(), {{begin, 1}, {end, -1}});
        }
        std::string const name = class_names[static_cast<std::size_t>(which)];
        for (int i = 0; i < static_cast<int>(ends.size()); ++i)
            rows_.rows.push_back({first + i, i == 0 ? name : name + " " + std::to_string(i + 1)});
        if (which == TraceRow::operations) rows_.operations_under_way = summed(std::move(changes));
    }

    TraceHeader const& header_;
    TraceRows rows_;
    std::array<Events, trace_lanes> threads_;
    std::map<TraceRow, Events> others_;
    std::vector<TraceStep> behind_;
    std::map<std::string, int> lanes_;  ///< How many have a name.
};

}  // namespace

TraceRows arrange(TracePart const& part) { return Arranger(part).arrange(); }

}  // namespace sluice
