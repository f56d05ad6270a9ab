// The pure parts of a trace: rings that overwrite, rows in which events nest, clocks, lists of
// ranks, and the text that viewers read.
#include "events/chrome_json.hpp"
#include "events/rows.hpp"
#include "events/tracer.hpp"
#include "golden.hpp"
#include "settings/rank_list.hpp"

#include <rapidcheck/gtest.h>

#include <map>

namespace sluice::trace_test {
namespace {

TraceEvent event(TraceKind kind, std::int64_t begin, std::int64_t end,
                 std::int64_t operation = -1) {
    return {.begin = begin, .end = end, .operation = operation, .kind = kind};
}

TracePart part_of(std::vector<TraceEvent> events) {
    TracePart part;
    part.header.over = 1000;
    part.header.lanes[0] = part.header.add_name("program");
    part.events = std::move(events);
    return part;
}

/// Whether each two events of a row lie beside each other or in each other.
bool nests(TraceRows const& rows) {
    std::map<int, std::vector<std::int64_t>> ends;
    std::map<int, std::int64_t> begins;
    for (auto const& slice : rows.slices) {
        auto& open = ends[slice.row];
        if (slice.event.begin < begins[slice.row]) return false;
        begins[slice.row] = slice.event.begin;
        while (!open.empty() && open.back() <= slice.event.begin) open.pop_back();
        if (!open.empty() && slice.event.end > open.back()) return false;
        open.push_back(slice.event.end);
    }
    return true;
}

std::string json_of(TracePart const& part) {
    std::string text;
    ChromeJson json([&](std::string_view more) { return text += more, true; }, 0);
    EXPECT_TRUE(json.add(part));
    EXPECT_TRUE(json.finish());
    return text;
}

TEST(Trace, a_ring_keeps_the_newest_events) {
    std::vector<TraceEvent> memory(4);
    TraceRing ring(memory.data(), 4);
    EXPECT_TRUE(ring.is_empty());
    for (int i = 0; i < 10; ++i) ring.add(event(TraceKind::call, i, i), 7);
    EXPECT_EQ(ring.last().begin, 9);
    for (TraceEvent const& kept : memory) EXPECT_GE(kept.begin, 6);
    for (TraceEvent const& kept : memory) EXPECT_EQ(kept.lane, 7);
}

TEST(Trace, what_is_new_in_a_ring_is_taken_once) {
    std::vector<TraceEvent> memory(8), taken;
    taken.reserve(8);
    TraceRing ring(memory.data(), 8);
    std::uint64_t seen = 0;
    EXPECT_EQ(ring.take_new(seen, false, taken), 0U);
    EXPECT_TRUE(taken.empty());
    for (int i = 0; i < 3; ++i) ring.add(event(TraceKind::call, i, i), 0);
    EXPECT_EQ(ring.take_new(seen, false, taken), 0U);
    EXPECT_EQ(taken.size(), 3U);
    EXPECT_EQ(ring.take_new(seen, false, taken), 0U);
    EXPECT_TRUE(taken.empty());
    for (int i = 3; i < 23; ++i) ring.add(event(TraceKind::call, i, i), 0);
    std::uint64_t const lost = ring.take_new(seen, false, taken);
    EXPECT_EQ(lost + taken.size(), 20U);
    ASSERT_EQ(taken.size(), 7U);  // The oldest may be overwritten meanwhile.
    for (int i = 0; i < 7; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)].begin, 16 + i);
    std::vector<TraceEvent> few;
    few.reserve(2);
    seen = 20;
    EXPECT_EQ(ring.take_new(seen, false, few), 0U);
    EXPECT_EQ(few.size(), 2U);
    EXPECT_EQ(seen, 22U);
}

TEST(Trace, a_wait_that_goes_on_is_taken_when_it_has_ended) {
    std::vector<TraceEvent> memory(8), taken;
    taken.reserve(8);
    TraceRing ring(memory.data(), 8);
    std::uint64_t seen = 0;
    ring.add(event(TraceKind::call, 1, 2), 0);
    ring.add(event(TraceKind::wait, 3, 4), 0);
    EXPECT_EQ(ring.take_new(seen, false, taken), 0U);
    EXPECT_EQ(taken.size(), 1U);
    ring.last().end = 9;
    ring.add(event(TraceKind::wait, 20, 21), 0);
    EXPECT_EQ(ring.take_new(seen, false, taken), 0U);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].end, 9);
    EXPECT_EQ(ring.take_new(seen, true, taken), 0U);
    EXPECT_EQ(taken.size(), 1U);
}

TEST(Trace, names_have_places_until_there_is_no_room) {
    TraceHeader part;
    auto const first = part.add_name("MPI_File_open"), second = part.add_name("b");
    EXPECT_EQ(part.name(first), "MPI_File_open");
    EXPECT_EQ(part.name(second), "b");
    EXPECT_EQ(part.name(0), "");
    std::string const longer(trace_names_bytes, 'x');
    EXPECT_EQ(part.add_name(longer), 0);
    EXPECT_NE(part.add_name("c"), 0);
}

RC_GTEST_PROP(Trace, events_of_a_row_never_cross,
              (std::vector<std::pair<std::uint8_t, std::uint8_t>> const& spans)) {
    constexpr TraceKind kinds[] = {TraceKind::send, TraceKind::round, TraceKind::transfer_write,
                                   TraceKind::exchange, TraceKind::operation_write};
    std::vector<TraceEvent> events;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        auto const [begin, length] = spans[i];
        auto const number = static_cast<std::int64_t>(i / 3);
        events.push_back(event(kinds[i % 5], begin, begin + length, number));
    }
    TraceRows const rows = arrange(part_of(events));
    RC_ASSERT(nests(rows));
    std::size_t gaps = 0;
    for (auto const& slice : rows.slices) gaps += slice.event.kind == TraceKind::between ? 1 : 0;
    RC_ASSERT(rows.slices.size() == events.size() + gaps);
}

TEST(Trace, stages_lie_in_the_row_of_their_operation) {
    auto const rows = arrange(
        part_of({event(TraceKind::claims, 5, 10, 0), event(TraceKind::operation_write, 0, 50, 0),
                 event(TraceKind::exchange, 30, 60, 1),  // Its end is lost.
                 event(TraceKind::operation_read, 60, 90, 2)}));
    std::map<std::int64_t, int> row;
    for (auto const& slice : rows.slices) {
        if (slice.event.operation < 0) continue;
        auto const [known, added] = row.try_emplace(slice.event.operation, slice.row);
        EXPECT_EQ(known->second, slice.row);
    }
    EXPECT_NE(row[0], row[1]);
    EXPECT_EQ(row[0], row[2]);
    ASSERT_EQ(rows.operations_under_way.size(), 6U);
    EXPECT_EQ(rows.operations_under_way[1].value, 2);
    EXPECT_EQ(rows.operations_under_way.back().value, 0);
}

TEST(Trace, rows_of_threads_have_names_of_their_own) {
    TracePart part;
    std::size_t lane = 0;
    for (char const* name : {"program", "storage", "storage"})
        part.header.lanes[lane++] = part.header.add_name(name);
    auto const rows = arrange(part);
    ASSERT_EQ(rows.rows.size(), 3U);
    EXPECT_EQ(rows.rows[1].name, "storage");
    EXPECT_EQ(rows.rows[2].name, "storage 2");
}

TEST(Trace, what_is_behind_is_counted) {
    auto taken = event(TraceKind::behind_taken, 10, 10),
         over = event(TraceKind::behind_over, 20, 20);
    taken.bytes = over.bytes = 4096;
    auto const rows = arrange(part_of({taken, over}));
    ASSERT_EQ(rows.bytes_behind.size(), 2U);
    EXPECT_EQ(rows.bytes_behind[0].value, 4096);
    EXPECT_EQ(rows.bytes_behind[1].value, 0);
}

TEST(Trace, the_programs_time_is_what_no_call_took) {
    auto const rows =
        arrange(part_of({event(TraceKind::call, 100, 200), event(TraceKind::call, 120, 150),
                         event(TraceKind::call, 300, 400)}));
    std::int64_t between = 0;
    for (auto const& slice : rows.slices) {
        if (slice.event.kind == TraceKind::between) between += slice.event.end - slice.event.begin;
    }
    EXPECT_EQ(between, 1000 - 200);
}

TEST(Trace, damaged_events_are_left_out) {
    auto const rows = arrange(part_of({event(TraceKind::none, 1, 2), event(TraceKind::call, 9, 3),
                                       event(static_cast<TraceKind>(200), 1, 2)}));
    ASSERT_EQ(rows.slices.size(), 1U);
    EXPECT_EQ(rows.slices[0].event.kind, TraceKind::between);
}

TEST(Trace, clocks_that_drift_are_aligned) {
    TraceHeader part;
    part.first = {1000, 500, 3};
    EXPECT_EQ(part.aligned(2000), 2500);
    part.last = {11000, 600, 3};
    EXPECT_EQ(part.aligned(1000), 1500);
    EXPECT_EQ(part.aligned(6000), 6550);
    EXPECT_EQ(part.aligned(11000), 11600);
}

TEST(Trace, both_ends_of_a_message_have_one_name) {
    FileTrace const sender{.key = 7, .world = {4, 5}}, receiver{.key = 7, .world = {4, 5}};
    EXPECT_EQ(sender.flow(0, 1, 9), receiver.flow(0, 1, 9));
    EXPECT_NE(sender.flow(0, 1, 9), sender.flow(1, 0, 9));
    EXPECT_NE(sender.flow(0, 1, 9), sender.flow(0, 1, 10));
    EXPECT_LT(sender.flow(0, 1, 9), std::uint64_t{1} << 53U);
    EXPECT_EQ(sender.world_rank(1), 5);
    EXPECT_EQ(sender.world_rank(2), -1);
}

TEST(Trace, ranks_are_listed) {
    auto const list = RankList::parse("0-3,8");
    ASSERT_TRUE(list);
    for (int rank : {0, 3, 8}) EXPECT_TRUE(list->contains(rank)) << rank;
    for (int rank : {4, 7, 9}) EXPECT_FALSE(list->contains(rank)) << rank;
    EXPECT_TRUE(RankList::parse("all")->contains(1'000'000));
    for (char const* text : {"", "a", "3-1", "1,", "-1", "1-", "1 2", "0x3"})
        EXPECT_FALSE(RankList::parse(text)) << text;
}

TEST(Trace, the_text_is_that_of_the_format) {
    auto part = part_of({});
    TraceHeader& header = part.header;
    auto call = event(TraceKind::call, 1'000, 9'500);
    call.detail = header.add_name("MPI_File_write_all");
    call.file = header.add_name("/tmp/\"a\"\n\xff");
    call.operation = 3, call.bytes = 4096;
    auto wait = event(TraceKind::wait, 2'000, 3'001);
    wait.detail = static_cast<std::uint8_t>(TraceWait::message);
    wait.peer = 1;
    auto sent = event(TraceKind::send, 3'000, 4'000, 3),
         got = event(TraceKind::receive, 4'000, 5'000);
    sent.flow = got.flow = 77;
    auto request = event(TraceKind::request_write, 5'000, 6'000, 3);
    request.detail = static_cast<std::uint8_t>(TraceRequest::vectored);
    request.offset = 0, request.bytes = 4096, request.aggregator = 0, request.round = 2;
    part.events = {wait, sent, got, request, call};
    header.over = 10'000;
    header.rank = 2, header.ranks = 4, header.lost = 5, header.ended = 1;
    header.first = header.last = {0, 0, 0};
    std::string("node1").copy(header.host, 5);
    std::string("app").copy(header.program, 3);
    testing::expect_golden("trace.json", json_of(part));
}

TEST(Trace, a_writer_that_fails_is_not_asked_again) {
    int asked = 0;
    ChromeJson json([&](std::string_view) { return ++asked, false; }, 0);
    EXPECT_FALSE(json.add(part_of(std::vector<TraceEvent>(2000, event(TraceKind::call, 1, 2)))));
    EXPECT_FALSE(json.finish());
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace sluice::trace_test
