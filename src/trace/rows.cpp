// Which row each event gets. See rows.hpp.
#include "trace/rows.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {
namespace {

using Events = std::vector<TraceEvent>;

constexpr int rows_of_a_class = 1000;
constexpr char const* class_names[] = {"thread", "operations", "rounds of aggregators", "transfers",
                                       "messages"};

bool is_whole(TraceEvent const& event) noexcept {
    return event.kind != TraceKind::none && event.kind <= TraceKind::last &&
           event.end >= event.begin;
}

bool is_moment(TraceKind kind) noexcept {
    return kind == TraceKind::behind_taken || kind == TraceKind::behind_over;
}

TraceRow row_of(TraceEvent const& event) noexcept { return text_of(event.kind).row; }

/// Outer ones first.
void sort(Events& events) {
    std::ranges::stable_sort(events, {}, [](TraceEvent const& event) {
        return std::tuple(event.begin, -event.end, text_of(event.kind).row);
    });
}

/// Clocks are read in nanoseconds and in seconds, so an inner event may seem to end a little later
/// than the one around it.
void nest(Events& events) {
    std::vector<std::int64_t> ends;  // Of those that are open.
    for (TraceEvent& event : events) {
        while (!ends.empty() && ends.back() <= event.begin) ends.pop_back();
        if (!ends.empty()) event.end = std::min(event.end, ends.back());
        ends.push_back(event.end);
    }
}

/// The lowest row that is free at a moment.
class FreeRows {
public:
    int take(std::int64_t begin, std::int64_t end) {
        auto const free =
            std::ranges::find_if(ends_, [&](std::int64_t over) { return over <= begin; });
        auto const row = static_cast<int>(free - ends_.begin());
        if (free == ends_.end())
            ends_.push_back(end);
        else
            *free = end;
        return row;
    }
    [[nodiscard]] int count() const noexcept { return static_cast<int>(ends_.size()); }

private:
    std::vector<std::int64_t> ends_;
};

class Arranger {
public:
    explicit Arranger(TracePart const& part) : part_(part) {}

    TraceRows arrange() {
        for (std::size_t i = 0; i < part_.lanes.size(); ++i) arrange_lane(i);
        arrange_operations();
        for (TraceRow const row : {TraceRow::rounds, TraceRow::transfers, TraceRow::messages})
            arrange_class(row);
        add_steps(behind_, rows_.bytes_behind);
        return std::move(rows_);
    }

private:
    static int first_row(TraceRow row) noexcept { return static_cast<int>(row) * rows_of_a_class; }

    void arrange_lane(std::size_t index) {
        auto const& lane = part_.lanes[index];
        Events own;
        for (TraceEvent const& event : lane.events) {
            if (!is_whole(event)) continue;
            if (is_moment(event.kind))
                behind_.push_back({event.end, event.kind == TraceKind::behind_taken
                                                  ? event.bytes
                                                  : -event.bytes});
            else
                (row_of(event) == TraceRow::thread ? own : others_[row_of(event)]).push_back(event);
        }
        sort(own);
        nest(own);
        if (lane.name == "program") fill_gaps(own);
        int const row = static_cast<int>(index) + 1;
        int const same = ++lanes_[lane.name];
        rows_.rows.push_back({row, same == 1 ? lane.name : lane.name + " " + std::to_string(same)});
        for (TraceEvent const& event : own) rows_.slices.push_back({event, row});
    }

    /// The program's own time: where no call is.
    void fill_gaps(Events& own) const {
        Events gaps;
        std::int64_t at = part_.began;
        auto const fill = [&](std::int64_t until) {
            if (until > at) gaps.push_back({.begin = at, .end = until, .kind = TraceKind::between});
        };
        for (TraceEvent const& event : own) {
            if (event.kind != TraceKind::call) continue;
            fill(event.begin);
            at = std::max(at, event.end);
        }
        fill(part_.over);
        own.insert(own.end(), gaps.begin(), gaps.end());
        sort(own);
    }

    /// All stages of an operation lie in its row, also where its end is not in the trace.
    void arrange_operations() {
        using Key = std::pair<std::uint16_t, std::int64_t>;
        std::map<Key, Events> all;
        for (TraceEvent const& event : others_[TraceRow::operations])
            all[{event.file, event.operation}].push_back(event);
        std::vector<Events*> in_order;
        for (auto& [key, events] : all) {
            sort(events);
            nest(events);
            in_order.push_back(&events);
        }
        std::ranges::stable_sort(in_order, {},
                                 [](Events* events) { return events->front().begin; });
        FreeRows free;
        std::vector<TraceStep> changes;
        for (Events const* events : in_order) {
            std::int64_t const begin = events->front().begin;
            std::int64_t const end = std::ranges::max(*events, {}, &TraceEvent::end).end;
            int const row = first_row(TraceRow::operations) + free.take(begin, end);
            for (TraceEvent const& event : *events) rows_.slices.push_back({event, row});
            changes.push_back({begin, 1});
            changes.push_back({end, -1});
        }
        add_rows(TraceRow::operations, free.count());
        add_steps(changes, rows_.operations_under_way);
    }

    void arrange_class(TraceRow which) {
        Events& events = others_[which];
        sort(events);
        FreeRows free;
        for (TraceEvent const& event : events) {
            int const row = first_row(which) + free.take(event.begin, event.end);
            rows_.slices.push_back({event, row});
        }
        add_rows(which, free.count());
    }

    void add_rows(TraceRow which, int count) {
        std::string const name = class_names[static_cast<std::size_t>(which)];
        for (int i = 0; i < count; ++i)
            rows_.rows.push_back(
                {first_row(which) + i, i == 0 ? name : name + " " + std::to_string(i + 1)});
    }

    static void add_steps(std::vector<TraceStep>& changes, std::vector<TraceStep>& steps) {
        std::ranges::stable_sort(changes, {}, &TraceStep::at);
        std::int64_t value = 0;
        for (TraceStep const& change : changes) {
            value += change.value;
            steps.push_back({change.at, std::max<std::int64_t>(value, 0)});
        }
    }

    TracePart const& part_;
    TraceRows rows_;
    std::map<TraceRow, Events> others_;
    std::vector<TraceStep> behind_;
    std::map<std::string, int> lanes_;  ///< How many have a name.
};

}  // namespace

TraceRows arrange(TracePart const& part) { return Arranger(part).arrange(); }

}  // namespace sluice
