// A machine's profile: its lines between points, its text, and what is said of bad text.
#include "base/machine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace sluice::machine_test {
namespace {

Curve line_of(std::vector<Curve::Point> points) { return {std::move(points)}; }

TEST(curve, is_straight_between_its_points) {
    Curve const curve = line_of({{4096, 1e-4}, {8192, 3e-4}, {16384, 4e-4}});
    EXPECT_DOUBLE_EQ(curve.seconds(1), 1e-4);
    EXPECT_DOUBLE_EQ(curve.seconds(4096), 1e-4);
    EXPECT_DOUBLE_EQ(curve.seconds(6144), 2e-4);
    EXPECT_DOUBLE_EQ(curve.seconds(8192), 3e-4);
    EXPECT_DOUBLE_EQ(curve.seconds(16384), 4e-4);
    EXPECT_DOUBLE_EQ(curve.seconds(32768), 6e-4) << "as steep as before";
    EXPECT_DOUBLE_EQ(line_of({{4096, 1e-4}}).seconds(1e9), 1e-4);
    EXPECT_DOUBLE_EQ(Curve{}.seconds(1e9), 0);
    EXPECT_DOUBLE_EQ(line_of({{1, 2e-4}, {2, 1e-4}}).seconds(1e9), 1e-4) << "noise ends there";
}

TEST(requests, grow_with_clients) {
    RequestCosts const costs{{{1, line_of({{4096, 1e-4}})},
                              {2, line_of({{4096, 1.5e-4}})},
                              {4, line_of({{4096, 3e-4}})}}};
    EXPECT_DOUBLE_EQ(costs.seconds(4096, 0.5), 1e-4);
    EXPECT_DOUBLE_EQ(costs.seconds(4096, 1), 1e-4);
    EXPECT_DOUBLE_EQ(costs.seconds(4096, 2), 1.5e-4);
    EXPECT_DOUBLE_EQ(costs.seconds(4096, 3), 2.25e-4);
    EXPECT_DOUBLE_EQ(costs.seconds(4096, 16), 12e-4) << "in proportion";
    EXPECT_DOUBLE_EQ(RequestCosts{}.seconds(4096, 16), 0);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(a) + 1e-18; }

bool near(MessageCosts const& a, MessageCosts const& b) {
    return near(a.start, b.start) && near(a.byte, b.byte);
}

/// `sizes`: not far behind the last point, where rounding is seen as through a glass.
void expect_near(MachineProfile const& a, MachineProfile const& b,
                 std::vector<double> const& sizes) {
    EXPECT_EQ(a.measured, b.measured);
    EXPECT_TRUE(near(a.between, b.between) && near(a.within, b.within));
    EXPECT_TRUE(near(a.queue, b.queue) && near(a.copy_byte, b.copy_byte));
    EXPECT_TRUE(near(a.copy_piece, b.copy_piece) && near(a.plan_piece, b.plan_piece));
    EXPECT_TRUE(near(a.wake, b.wake) && near(a.operation, b.operation));
    EXPECT_TRUE(near(a.operation_nodes, b.operation_nodes) && near(a.exchange, b.exchange));
    EXPECT_TRUE(near(a.round, b.round) && near(a.after_pause, b.after_pause));
    for (std::size_t way : {0U, 1U}) {
        for (double const clients : {1.0, 2.0, 3.0, 8.0, 100.0}) {
            for (double const bytes : sizes) {
                EXPECT_TRUE(near(a.sequential[way].seconds(bytes, clients),
                                 b.sequential[way].seconds(bytes, clients)));
                EXPECT_TRUE(near(a.random[way].seconds(bytes, clients),
                                 b.random[way].seconds(bytes, clients)));
            }
        }
    }
}

MachineProfile read_back(MachineProfile const& machine) {
    std::string error;
    auto const read = machine_described(describe(machine), error);
    EXPECT_EQ(error, "");
    return read.value_or(MachineProfile{});
}

TEST(machine, the_usual_one_survives_its_text) {
    expect_near(usual_machine(), read_back(usual_machine()), {1, 4096, 5000, 1e5, 1e6, 1e8});
    EXPECT_FALSE(usual_machine().is_measured());
    EXPECT_EQ(describe(usual_machine()), describe(read_back(usual_machine())));
}

double drawn_time() { return *rc::gen::inRange(1, 1000000) * 1e-9; }

RequestCosts drawn_costs() {
    RequestCosts costs;
    std::int32_t clients = 0;
    for (int depths = *rc::gen::inRange(1, 4); depths > 0; --depths) {
        Curve curve;
        Bytes bytes = 0;
        double seconds = 0;
        for (int points = *rc::gen::inRange(1, 6); points > 0; --points) {
            bytes += *rc::gen::inRange<Bytes>(1, 1 << 20);
            seconds += drawn_time();
            curve.points.push_back({bytes, seconds});
        }
        clients += *rc::gen::inRange(1, 5);
        costs.depths.push_back({clients, std::move(curve)});
    }
    return costs;
}

RC_GTEST_PROP(machine, any_survives_its_text, ()) {
    MachineProfile machine;
    machine.measured = "host, day";
    machine.between = {drawn_time(), drawn_time() * 1e-3};
    machine.within = {drawn_time(), drawn_time() * 1e-3};
    for (double* const value :
         {&machine.queue, &machine.copy_byte, &machine.copy_piece, &machine.plan_piece,
          &machine.wake, &machine.operation, &machine.operation_nodes, &machine.exchange,
          &machine.round, &machine.after_pause})
        *value = *rc::gen::inRange(0, 4) == 0 ? 0 : drawn_time();
    machine.random[0] = drawn_costs();
    std::vector<double> sizes{1};
    for (auto const& point : machine.random[0].depths.front().one.points)
        sizes.push_back(static_cast<double>(point.bytes));
    machine.sequential[0] = machine.sequential[1] = machine.random[1] = machine.random[0];
    if (machine.random[1].depths.size() > 1) machine.random[1].depths.pop_back();
    expect_near(machine, read_back(machine), sizes);
}

TEST(machine, what_cannot_be_in_a_string_is_left_out) {
    MachineProfile machine;
    machine.measured = "a \"host\"\n[costs]\\";
    EXPECT_EQ(read_back(machine).measured, "a  host  [costs] ");
}

TEST(machine, what_is_not_said_is_as_usual) {
    std::string error;
    auto const machine = machine_described("measured = \"here\"\n[costs]\nwake = \"1 ms\"\n"
                                           "[storage.read.random]\nsizes = \"4K, 1M\"\n"
                                           "clients_2 = \"0.1ms 2ms\"  # of each\n",
                                           error);
    ASSERT_TRUE(machine.has_value()) << error;
    EXPECT_TRUE(machine->is_measured());
    EXPECT_DOUBLE_EQ(machine->wake, 1e-3);
    EXPECT_EQ(machine->operation, usual_machine().operation);
    EXPECT_EQ(machine->sequential, usual_machine().sequential);
    EXPECT_EQ(machine->random[0], usual_machine().random[0]);
    EXPECT_DOUBLE_EQ(machine->random[1].seconds(1 << 20, 4), 4e-3);
}

TEST(machine, bad_text_is_told_by_its_key) {
    std::string const section = "[storage.write.random]\n";
    std::pair<std::string, std::string> const cases[] = {
        {"", "measured"},
        {"[costs]\nwake\n", "expected key = value"},
        {"[costs]\nwake = 3\n", "costs.wake = 3: expected a time"},
        {"[costs]\nwake = \"3 hours\"\n", "costs.wake = 3 hours: expected a time"},
        {"[costs]\nwake = \"-3us\"\n", "costs.wake = -3us"},
        {"[costs]\nwake = \"nans\"\n", "costs.wake = nans"},
        {"[costs]\nwake = \"infs\"\n", "costs.wake = infs"},
        {"[costs]\nwake = \"1e300s\"\n", "costs.wake = 1e300s"},
        {"[costs]\nsleep = \"3us\"\n", "there is no key 'costs.sleep'"},
        {"[messages.between]\nbyte = \"\"\n", "messages.between.byte = : expected a time"},
        {section + "clients_1 = \"1us\"\n", "storage.write.random.sizes: expected sizes"},
        {section + "sizes = \"4K\"\n", "storage.write.random.clients_1: expected a time"},
        {section + "sizes = \"4K 4K\"\n", "storage.write.random.sizes: '4K': expected sizes that"},
        {section + "sizes = \"0\"\nclients_1 = \"1us\"\n", "storage.write.random.sizes: '0'"},
        {section + "sizes = \"4K\"\nclients_1 = \"1us 2us\"\n", "clients_1: more times than sizes"},
        {section + "sizes = \"4K 8K\"\nclients_1 = \"1us\"\n", "clients_1: fewer times than"},
        {section + "sizes = \"4K\"\nclients_1 = \"0us\"\n", "clients_1: '0us': expected a time"},
        {section + "sizes = \"4K\"\nclients_0 = \"1us\"\n", "no key 'storage.write.random.clie"},
        {section + "sizes = \"4K\"\nclients_x = \"1us\"\n", "no key 'storage.write.random.clie"},
    };
    for (auto const& [text, expected] : cases) {
        std::string error;
        bool const is_first = &text == &cases[0].first;
        EXPECT_FALSE(machine_described((is_first ? "" : "measured = \"here\"\n") + text, error));
        EXPECT_NE(error.find(expected), std::string::npos) << text << " -> " << error;
    }
}

/// Whatever the text, there is a machine or an error.
RC_GTEST_PROP(machine, spoilt_text_never_crashes, ()) {
    std::string text = describe(usual_machine());
    for (int faults = *rc::gen::inRange(1, 6); faults > 0; --faults) {
        auto const at = *rc::gen::inRange<std::size_t>(0, text.size());
        if (*rc::gen::inRange(0, 2) == 0)
            text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
        else
            text[at] = static_cast<char>(*rc::gen::inRange(1, 127));
    }
    std::string error;
    auto const read = machine_described(text, error);
    RC_ASSERT(read.has_value() == error.empty());
    if (read) RC_ASSERT(std::isfinite(read->random[0].seconds(1e9, 1e3)));
}

}  // namespace
}  // namespace sluice::machine_test
