// The cost model: tables that are looked at when they change, and what must hold of any workload on
// any machine.
#include "cost_model_cases.hpp"
#include "golden.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>

namespace sluice::cost_model_test {
namespace {

using cases::Shape;

constexpr Direction ways[] = {Direction::write, Direction::read};

std::string line_of(char const* what, Priced const& one) {
    Estimate const& e = one.estimate;
    char text[160];
    std::snprintf(text, sizeof text, "  %-7s %9.3f = %8.3f %8.3f %8.3f %9.3f  ", what,
                  e.total * 1e3, e.planning * 1e3, e.messages * 1e3, e.copies * 1e3,
                  e.storage * 1e3);
    return text + describe(one.candidate) + "\n";
}

/// The chosen one, and the cheapest of each strategy.
std::string table_of(MachineProfile const& machine, Workload const& work) {
    Freedom const freedom = cases::freedom_of(work);
    std::string text = line_of("chosen", choose(work, machine, freedom));
    auto const all = price_all(work, machine, freedom);
    for (auto const strategy : {Strategy::independent, Strategy::two_phase}) {
        auto const first = std::find_if(all.begin(), all.end(), [&](Priced const& one) {
            return one.candidate.strategy == strategy;
        });
        text += line_of(strategy == Strategy::independent ? "alone" : "shared", *first);
    }
    return text;
}

TEST(cost_model, its_tables_are_the_golden_ones) {
    for (char const* const device : {"hdd", "ssd", "nvm"}) {
        MachineProfile const machine = cases::machine_with(device);
        std::string text = "milliseconds: total = planning, messages, copies, storage\n";
        for (double const nodes : {1.0, 4.0}) {
            for (auto const shape : {Shape::contiguous, Shape::random, Shape::interleaved}) {
                for (auto const way : ways) {
                    text += std::string("4 ranks, ") + (nodes > 1 ? "4 nodes, " : "1 node, ") +
                            describe(shape) + " " + describe(way) + "\n" +
                            table_of(machine, cases::work_of(shape, way, nodes, 4));
                }
            }
        }
        testing::expect_golden(std::string("cost_model_") + device + ".txt", text);
    }
}

// ---- What must hold of anything ---------------------------------------------------------------

double drawn(double least, double most) {
    double const place = *rc::gen::inRange(0, 1000001) * 1e-6;
    return least * std::pow(most / least, place);
}

/// Longer requests take longer, and more clients make none of them faster.
RequestCosts drawn_costs(double start, double byte) {
    RequestCosts costs;
    double slower = 1;
    for (std::int32_t const clients : {1, 2, 4}) {
        Curve curve;
        for (Bytes const bytes : {4096, 65536, 1 << 20})
            curve.points.push_back({bytes, slower * (start + byte * static_cast<double>(bytes))});
        costs.depths.push_back({clients, std::move(curve)});
        slower *= drawn(1, 2);
    }
    return costs;
}

MachineProfile drawn_machine() {
    MachineProfile m;
    m.measured = "drawn";
    m.between = {drawn(1e-6, 1e-4), drawn(1e-11, 1e-8)};
    m.copy_byte = drawn(1e-11, 1e-9);
    m.copy_piece = drawn(1e-9, 1e-7);
    m.plan_piece = drawn(1e-9, 1e-7);
    m.operation = drawn(1e-6, 1e-3);
    m.round = drawn(1e-6, 1e-4);
    for (auto const way : {0U, 1U}) {
        double const start = drawn(1e-6, 1e-3), byte = drawn(1e-10, 1e-7);
        m.sequential[way] = drawn_costs(start, byte);
        m.random[way] = m.sequential[way];
        for (auto& depth : m.random[way].depths) {
            for (auto& point : depth.one.points) point.seconds += start * 10;
        }
    }
    return m;
}

Workload drawn_work() {
    Workload w;
    w.direction = ways[*rc::gen::inRange(0, 2)];
    w.nodes = *rc::gen::inRange(1, 9);
    w.ranks = w.nodes * *rc::gen::inRange(1, 9);
    w.bytes = std::floor(drawn(1, 1e10));
    w.pieces = std::floor(std::min(w.bytes, drawn(1, 1e6)));
    w.bytes_most = w.bytes * drawn(1 / w.ranks, 1);
    w.pieces_most = std::max(1.0, w.pieces * drawn(1 / w.ranks, 1));
    w.span = std::floor(w.bytes * drawn(0.1, 100)) + 1;
    w.touched = *rc::gen::inRange(0, 2) * w.pieces;
    w.stretches = *rc::gen::inRange(0, 2) * std::max(w.nodes, w.pieces / 2);
    w.covered = *rc::gen::arbitrary<bool>();
    w.interleaved = *rc::gen::arbitrary<bool>();
    w.repeats = *rc::gen::arbitrary<bool>();
    w.blocking = *rc::gen::arbitrary<bool>();
    w.cores_a_node = *rc::gen::inRange(1, 9);
    return w;
}

Freedom drawn_freedom(Workload const& w) {
    Freedom freedom;
    freedom.aggregators_most = *rc::gen::inRange(1, static_cast<int>(w.ranks) + 1);
    freedom.window_most = *rc::gen::inRange<Bytes>(0, 1 << 24);
    freedom.can_group = w.nodes > 1 && w.stretches > 0;
    return freedom;
}

bool sound(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

RC_GTEST_PROP(cost_model, is_never_negative_and_never_endless, ()) {
    auto const work = drawn_work();
    auto const machine = drawn_machine();
    auto const all = price_all(work, machine, drawn_freedom(work));
    RC_ASSERT(!all.empty());
    for (auto const& [candidate, e] : all) {
        RC_ASSERT(sound(e.planning) && sound(e.messages) && sound(e.copies) && sound(e.storage));
        RC_ASSERT(sound(e.total) && e.total > 0);
        RC_ASSERT(e.total >= e.planning && e.total >= e.storage);
        RC_ASSERT(e.total <= 1.0001 * (e.planning + e.messages + e.copies + e.storage));
    }
}

RC_GTEST_PROP(cost_model, the_chosen_is_within_the_margin_of_the_cheapest, ()) {
    auto const work = drawn_work();
    auto const machine = drawn_machine();
    auto const freedom = drawn_freedom(work);
    auto const all = price_all(work, machine, freedom);
    auto const chosen = choose(work, machine, freedom);
    RC_ASSERT(chosen.estimate.total <= 1.031 * all.front().estimate.total);
    RC_ASSERT(std::is_sorted(all.begin(), all.end(), [](Priced const& a, Priced const& b) {
        return a.estimate.total < b.estimate.total;
    }));
    RC_ASSERT(price(chosen.candidate, work, machine) == chosen.estimate);
}

/// The same once more behind it, on a device without seeks: longer requests may save some.
RC_GTEST_PROP(cost_model, grows_with_bytes, ()) {
    auto const work = drawn_work();
    auto machine = drawn_machine();
    machine.random = machine.sequential;
    auto more = work;
    for (double* const each : {&more.bytes, &more.bytes_most, &more.pieces, &more.pieces_most,
                               &more.span, &more.touched, &more.stretches})
        *each *= 2;
    for (auto const& [candidate, estimate] : price_all(work, machine, drawn_freedom(work))) {
        auto const grown = price(candidate, more, machine);
        RC_LOG() << describe(candidate) << ": " << describe(estimate) << ", then "
                 << describe(grown) << "\n";
        RC_ASSERT(grown.total >= 0.9 * estimate.total);
    }
}

RC_GTEST_PROP(cost_model, grows_with_each_cost, ()) {
    auto const work = drawn_work();
    auto const machine = drawn_machine();
    auto dearer = machine;
    double* const costs[] = {&dearer.between.start, &dearer.between.byte, &dearer.queue,
                             &dearer.copy_byte,     &dearer.copy_piece,   &dearer.plan_piece,
                             &dearer.wake,          &dearer.operation,    &dearer.operation_nodes,
                             &dearer.exchange,      &dearer.round,        &dearer.after_pause};
    *costs[*rc::gen::inRange<std::size_t>(0, std::size(costs))] *= 3;
    for (auto const& [candidate, estimate] : price_all(work, machine, drawn_freedom(work)))
        RC_ASSERT(price(candidate, work, dearer).total >= 0.9999 * estimate.total);
}

RC_GTEST_PROP(cost_model, slower_storage_is_never_faster, ()) {
    auto const work = drawn_work();
    auto const machine = drawn_machine();
    auto slower = machine;
    for (auto* const by_direction : {&slower.sequential, &slower.random})
        for (auto& costs : *by_direction)
            for (auto& depth : costs.depths)
                for (auto& point : depth.one.points) point.seconds *= 3;
    for (auto const& [candidate, estimate] : price_all(work, machine, drawn_freedom(work)))
        RC_ASSERT(price(candidate, work, slower).total >= 0.9999 * estimate.total);
}

RC_GTEST_PROP(cost_model, claims_that_are_known_cost_nothing, ()) {
    auto work = drawn_work();
    auto const machine = drawn_machine();
    work.repeats = false;
    for (auto const& [candidate, estimate] : price_all(work, machine, drawn_freedom(work))) {
        auto again = work;
        again.repeats = true;
        RC_ASSERT(price(candidate, again, machine).total <= estimate.total);
    }
}

/// The fullest domain takes longest; domains that hold equal bytes do not care.
RC_GTEST_PROP(cost_model, is_never_faster_where_bytes_crowd, ()) {
    auto work = drawn_work();
    auto machine = drawn_machine();
    machine.random = machine.sequential;  // Longer requests would save seeks.
    auto crowded = work;
    Weights const weights = Weights::crowded(drawn(0.01, 1));
    crowded.weights = &weights;
    for (auto const& [candidate, estimate] : price_all(work, machine, drawn_freedom(work))) {
        double const total = price(candidate, crowded, machine).total;
        bool const even = candidate.domains == Domains::even;
        bool const holds = even ? total >= 0.9 * estimate.total : total == estimate.total;
        RC_LOG() << describe(candidate) << ": " << describe(estimate) << ", then " << total << "\n";
        RC_ASSERT(holds);
    }
}

/// Equal shares of the span are good where the bytes are spread; else shares of the bytes are.
TEST(candidates, follow_the_weights) {
    MachineProfile const machine = cases::machine_with("nvm");
    Workload work = cases::work_of(Shape::random, Direction::write, 1, 4);
    Freedom freedom = cases::freedom_of(work);
    freedom.hints.write = Strategy::two_phase;
    freedom.hints.aggregator_count = 4;
    Weights const even = Weights::even(), crowded = Weights::crowded(0.25);
    work.weights = &even;
    EXPECT_EQ(choose(work, machine, freedom).candidate.domains, Domains::even);
    work.weights = &crowded;
    EXPECT_EQ(choose(work, machine, freedom).candidate.domains, Domains::balanced);
}

void expect_overlap_is_not_slower(Workload const& waiting, MachineProfile const& machine) {
    auto beside = waiting;
    beside.blocking = false;
    for (auto const& [candidate, estimate] : price_all(waiting, machine, drawn_freedom(waiting)))
        RC_ASSERT(price(candidate, beside, machine).total <= 1.0001 * estimate.total);
}

/// Who does not wait for the call moves on meanwhile. But where there are holes the threads of the
/// storage, which serve windows in turn, leave out each other's, and a disk has to seek.
RC_GTEST_PROP(cost_model, overlap_is_never_slower, ()) {
    auto work = drawn_work();
    auto machine = drawn_machine();
    work.blocking = true;
    auto dense = work;
    dense.span = std::min(work.span, work.bytes);
    dense.stretches = 0;
    expect_overlap_is_not_slower(dense, machine);
    machine.random = machine.sequential;  // No seeks.
    expect_overlap_is_not_slower(work, machine);
}

/// Two threads that serve the windows of pieces with holes lose a seek in each.
TEST(cost_model, threads_that_take_turns_seek) {
    MachineProfile machine = cases::machine_with("hdd");
    // It keeps the streams of two clients apart.
    auto& writes = machine.sequential[1];
    for (auto& depth : writes.depths) depth.one = writes.depths[0].one;
    MachineProfile free = machine;
    free.random = free.sequential;
    Workload work = cases::work_of(Shape::interleaved, Direction::write, 1, 4);
    work.covered = work.blocking = false;
    Candidate candidate;
    candidate.strategy = Strategy::two_phase;
    candidate.aggregators = 1;
    auto const seeking = [&](double density) {
        work.span = work.bytes / density;
        candidate.window_bytes = static_cast<Bytes>(work.span) / 8;
        return price(candidate, work, machine).storage - price(candidate, work, free).storage;
    };
    double const seek = machine.random[1].seconds(4096, 1) - machine.sequential[1].seconds(4096, 1);
    EXPECT_GT(seeking(0.5), 4 * seek);
    EXPECT_LT(seeking(1), 1.1 * seek);
}

/// No workload is too strange.
TEST(cost_model, takes_anything) {
    MachineProfile const machine = cases::machine_with("ssd");
    for (double const bytes : {0.0, 1.0, 1e18}) {
        for (double const span : {0.0, 1.0, 1e18}) {
            Workload w;
            w.ranks = 0, w.nodes = 3, w.bytes = bytes, w.span = span, w.cores_a_node = 0;
            for (auto const& [candidate, e] : price_all(w, machine, {}))
                EXPECT_TRUE(sound(e.total)) << bytes << " in " << span;
        }
    }
}

// ---- Hints ------------------------------------------------------------------------------------

TEST(candidates, obey_the_hints) {
    MachineProfile const machine = cases::machine_with("nvm");
    Workload const work = cases::work_of(Shape::interleaved, Direction::read, 4, 16);
    Freedom freedom = cases::freedom_of(work);
    freedom.hints.read = Strategy::two_phase;
    freedom.hints.aggregator_count = 3;
    freedom.hints.window_bytes = 100000;
    freedom.hints.domains = Domains::balanced;
    freedom.hints.data.layers = Layers::one;
    auto const all = price_all(work, machine, freedom);
    ASSERT_EQ(all.size(), 1U);
    Bytes const gaps = sieve_bytes(machine, 3);
    Candidate const expected{Strategy::two_phase, gaps, Domains::balanced, 3, 102400, Layers::one};
    EXPECT_EQ(all.front().candidate, expected);
    freedom.hints.read = Strategy::independent;
    for (auto const& one : price_all(work, machine, freedom))
        EXPECT_EQ(one.candidate.strategy, Strategy::independent);
}

TEST(candidates, keep_within_memory_and_ranks) {
    MachineProfile const machine = cases::machine_with("hdd");
    Workload const work = cases::work_of(Shape::interleaved, Direction::write, 1, 4);
    Freedom freedom = cases::freedom_of(work);
    freedom.window_most = 50000;
    freedom.hints.aggregator_count = 100;
    for (auto const& one : price_all(work, machine, freedom)) {
        if (one.candidate.strategy != Strategy::two_phase) continue;
        EXPECT_EQ(one.candidate.window_bytes, 49152);
        EXPECT_EQ(one.candidate.aggregators, 4);
    }
    freedom.window_most = 0;
    auto const all = price_all(work, machine, freedom);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().candidate, Candidate{});
}

TEST(candidates, leave_a_choice) {
    MachineProfile const machine = cases::machine_with("hdd");
    Workload const work = cases::work_of(Shape::random, Direction::write, 4, 16);
    auto const all = price_all(work, machine, cases::freedom_of(work));
    std::set<std::int32_t> counts;
    std::set<Bytes> windows;
    std::set<Domains> divisions;
    std::set<Layers> layers;
    for (auto const& [c, e] : all) {
        if (c.strategy != Strategy::two_phase) continue;
        counts.insert(c.aggregators), windows.insert(c.window_bytes);
        divisions.insert(c.domains), layers.insert(c.layers);
    }
    EXPECT_EQ(counts, (std::set<std::int32_t>{1, 2, 4, 8, 16}));
    EXPECT_GE(windows.size(), 3U);
    EXPECT_EQ(divisions, (std::set{Domains::even, Domains::balanced}));
    EXPECT_EQ(layers, (std::set{Layers::one, Layers::two}));
}

TEST(candidates, what_is_as_good_is_the_simpler) {
    MachineProfile machine = cases::machine_with("nvm");
    for (auto const way : {0U, 1U}) machine.random[way] = machine.sequential[way];
    machine.copy_byte = machine.copy_piece = machine.round = machine.wake = machine.exchange = 0;
    Workload const work = cases::work_of(Shape::contiguous, Direction::write, 1, 4);
    EXPECT_EQ(choose(work, machine, cases::freedom_of(work)).candidate, Candidate{});
}

TEST(candidates, more_aggregators_are_preferred_where_they_cost_no_more) {
    MachineProfile const machine = cases::machine_with("nvm");
    Workload const work = cases::work_of(Shape::interleaved, Direction::write, 1, 4);
    Freedom freedom = cases::freedom_of(work);
    freedom.aggregators_most = 2;
    auto const best = choose(work, machine, freedom);
    EXPECT_EQ(best.candidate.aggregators, 2);
    freedom.hints.aggregator_count = 1;
    EXPECT_LT(best.estimate.total, choose(work, machine, freedom).estimate.total * 1.03);
}

/// All candidates of a large call: printed, and a limit that only a mistake exceeds.
TEST(candidates, are_priced_in_microseconds) {
    MachineProfile const machine = cases::machine_with("nvm");
    for (auto const& [nodes, ranks] : {std::pair{1.0, 4.0}, {16.0, 1024.0}}) {
        Workload const work = cases::work_of(Shape::random, Direction::read, nodes, ranks);
        Freedom const freedom = cases::freedom_of(work);
        std::size_t count = price_all(work, machine, freedom).size();
        constexpr int times = 200;
        using Clock = std::chrono::steady_clock;
        auto const begin = Clock::now();
        for (int i = 0; i < times; ++i) count += choose(work, machine, freedom).estimate.total < 0;
        double const each = std::chrono::duration<double>(Clock::now() - begin).count() / times;
        std::printf("%zu candidates in %.1f us\n", count, each * 1e6);
        EXPECT_LT(each, 2e-3);
    }
}

}  // namespace
}  // namespace sluice::cost_model_test
