// Hints: what is understood, what is refused, and that nonsense changes nothing.
#include "file/plan/staging.hpp"
#include "settings_cases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::hints_test {
namespace {

using namespace testing;

TEST(Hints, EachIsRead) {
    ReadHints const read(Table{{"sluice", "disable"},
                               {"cb_nodes", "3"},
                               {"cb_buffer_size", "2M"},
                               {"striping_unit", "65536"},
                               {"striping_factor", "4"},
                               {"sluice_domains", "cyclic"},
                               {"cb_config_list", "node-1:*,*"},
                               {"sluice_aggregators", "4,2"},
                               {"romio_cb_write", "enable"},
                               {"romio_cb_read", "disable"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_TRUE(read.hints.disabled);
    EXPECT_EQ(read.hints.plan.aggregator_count, 3);
    EXPECT_EQ(read.hints.plan.window_bytes, 2 << 20);
    EXPECT_EQ(read.hints.plan.stripe_bytes, 65536);
    EXPECT_EQ(read.hints.plan.stripe_count, 4);
    EXPECT_EQ(read.hints.plan.domains, Domains::cyclic);
    EXPECT_EQ(read.hints.placement.hosts,
              (std::vector<HostShare>{{"node-1", HostShare::all}, {"*", 1}}));
    EXPECT_EQ(read.hints.placement.ranks, (std::vector<Rank>{4, 2}));
    EXPECT_EQ(read.hints.plan.write, Strategy::two_phase);
    EXPECT_EQ(read.hints.plan.read, Strategy::independent);
}

TEST(Hints, StripesMayBeLeftToTheLibrary) {
    ReadHints const read(Table{{"striping_factor", "auto"}, {"striping_unit", "4M"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_TRUE(read.hints.automatic_stripes);
    EXPECT_EQ(read.hints.plan.stripe_count, 0);
    EXPECT_EQ(read.hints.plan.stripe_bytes, 4 << 20);
    ReadHints const later(Table{{"striping_factor", "2"}}, read.hints);
    EXPECT_FALSE(later.hints.automatic_stripes);
    EXPECT_EQ(later.hints.plan.stripe_count, 2);
    EXPECT_EQ(servers_usual(3, 1), 3);
    EXPECT_EQ(servers_usual(512, 8), 8 * aggregators_a_node);
}

TEST(Hints, WhatIsNotSaidStays) {
    FileHints before;
    before.plan.aggregator_count = 5;
    before.plan.write = Strategy::independent;
    EXPECT_EQ(ReadHints(Table{}, before).hints, before);
    ReadHints const read(Table{{"romio_cb_write", "automatic"}}, before);
    EXPECT_EQ(read.hints.plan.write, Strategy::automatic);
    EXPECT_EQ(read.hints.plan.aggregator_count, 5);
}

TEST(Hints, NonsenseIsToldAndIgnored) {
    FileHints before;
    before.plan.window_bytes = 12345;
    before.plan.read = Strategy::two_phase;
    std::vector<std::string> names;
    for (Knob const& knob : hint_knobs()) names.emplace_back(knob.name);
    for (Knob const& knob : experiment_hint_knobs()) names.emplace_back(knob.name);
    std::erase(names, "cb_config_list");  // Hosts have any name.
    for (std::string const& name : names) {
        for (char const* const text : nonsense) {
            ReadHints const read(Table{{name, text}}, before);
            EXPECT_EQ(read.complaints.size(), 1u) << name << "=" << text;
            EXPECT_EQ(read.hints, before) << name << "=" << text;
        }
    }
}

TEST(Hints, HugeNumbersStayPositive) {
    ReadHints const read(Table{{"cb_nodes", "100G"}, {"cb_buffer_size", "1000000G"}});
    EXPECT_GT(read.hints.plan.aggregator_count, 0);
    EXPECT_GT(read.hints.plan.window_bytes, 0);
}

TEST(Hints, PageCacheIsRead) {
    EXPECT_EQ(ReadHints(Table{{"sluice_page_cache", "direct"}}).hints.page_cache,
              PageCache::direct_io);
    EXPECT_EQ(ReadHints(Table{{"sluice_page_cache", "keep"}}).hints.page_cache, PageCache::keep);
}

TEST(Hints, DurableIsRead) {
    EXPECT_EQ(ReadHints(Table{{"sluice_close", "durable"}}).hints.close, Close::durable);
    EXPECT_EQ(ReadHints(Table{{"sluice_close", "behind"}}).hints.close, Close::behind);
    EXPECT_EQ(ReadHints(Table{{"sluice_close", "complete"}}).hints.close, Close::complete);
}

TEST(ExchangeHint, EachWordIsRead) {
    auto const read = [](char const* text) {
        return ReadHints(Table{{"sluice_exchange", text}}).hints.plan;
    };
    Hints const both = read("balanced,two-layer");
    EXPECT_EQ(both.metadata, (Delivery{Kernel::balanced, Layers::two}));
    EXPECT_EQ(both.data, both.metadata);
    EXPECT_EQ(both.data.throttle, Throttle{});
    Hints const mixed = read("one-layer,metadata:synchronous,data:pairwise,throttle:8,batches");
    EXPECT_EQ(mixed.metadata, (Delivery{Kernel::automatic, Layers::one, 1, 0, 0, {8, 1}}));
    EXPECT_EQ(mixed.data, (Delivery{Kernel::pairwise, Layers::one, 0, 0, 0, {8, 1}}));
    Hints const apart = read("metadata:throttle:0,data:throttle:32,data:stride:4");
    EXPECT_EQ(apart.metadata.throttle, (Throttle{0}));
    EXPECT_EQ(apart.data.throttle, (Throttle{32}));
    EXPECT_EQ(apart.data.stride, 4);
    EXPECT_EQ(apart.metadata.stride, 0);
    Hints const numbers = read("groups:3");
    EXPECT_EQ(numbers.group_count, 3);
    EXPECT_EQ(numbers.data, Delivery{});
    for (char const* const text : {"groups:", "groups:2,groups:3", "both:balanced", "throttle:x",
                                   "balanced,", "stride:0", "metadata:data:balanced"}) {
        EXPECT_EQ(ReadHints(Table{{"sluice_exchange", text}}).complaints.size(), 1u) << text;
    }
}

TEST(ExchangeHint, SaysAllOfIt) {
    FileHints before;
    before.plan.data.throttle = {9, 0};
    before.plan.group_count = 4;
    Hints const plan = ReadHints(Table{{"sluice_exchange", "two-layer"}}, before).hints.plan;
    EXPECT_EQ(plan.data.throttle, Throttle{});
    EXPECT_EQ(plan.group_count, 0);
}

RC_GTEST_PROP(ExchangeHint, ReadsBackWhatIsInForce, ()) {
    auto const below = [](int end) { return *rc::gen::inRange(0, end); };
    auto const delivery = [&] {
        Delivery one{static_cast<Kernel>(below(6)), static_cast<Layers>(below(3)),
                     static_cast<std::uint8_t>(below(2))};
        one.stride = below(9);
        if (below(2) == 0) one.throttle = {below(40), static_cast<std::uint8_t>(below(2))};
        return one;
    };
    FileHints set;
    set.plan.metadata = delivery();
    set.plan.data = below(2) == 0 ? set.plan.metadata : delivery();
    set.plan.group_count = static_cast<std::uint8_t>(below(65));
    std::string text;
    for (auto const& [name, value] : hints_in_force(set, 1))
        if (name == "sluice_exchange") text = value;
    ReadHints const read(Table{{"sluice_exchange", text}});
    RC_ASSERT(read.complaints.empty());
    RC_ASSERT(read.hints.plan == set.plan);
}

TEST(Hints, InForceReadsBackAsWhatIsInForce) {
    FileHints set;
    set.close = Close::durable;
    set.plan.aggregator_count = 3;
    set.plan.stripe_count = 7;
    set.plan.stripe_bytes = 65536;
    set.placement = {{{"node-1", 2}, {"*", 1}}, {4, 0}};
    set.plan.domains = Domains::groups;
    set.plan.group_count = 5;
    set.plan.metadata = {Kernel::ascending, Layers::two, 1, 0, 0, {3, 1}};
    set.plan.data = {Kernel::balanced, Layers::automatic, 0, 0, 7, {3, 1}};
    set.page_cache = PageCache::direct_io;
    set.plan.write = Strategy::two_phase;
    Table table;
    for (auto const& [name, value] : hints_in_force(set, 2)) table[name] = value;
    EXPECT_EQ(table.size(), hint_knobs().size() + experiment_hint_knobs().size());
    ReadHints const read(table);
    EXPECT_TRUE(read.complaints.empty());
    set.plan.window_bytes = window_bytes_default;  // Automatic values are spelt out.
    set.given = read.hints.given;
    EXPECT_EQ(read.hints, set);
    for (auto const& [name, value] : hints_in_force(FileHints{}, 2)) table[name] = value;
    EXPECT_EQ(table.at("cb_nodes"), "2");
}

/// PnetCDF aligns variables to `striping_unit`, so one that is made up changes its files.
TEST(Hints, InForceAreNoStripesThatNobodyKnows) {
    for (auto const& [name, value] : hints_in_force(FileHints{}, 1))
        EXPECT_FALSE(name.starts_with("striping")) << name << "=" << value;
}

TEST(Hints, NoIndependentAccessMeansCollectiveBuffering) {
    ReadHints const read(Table{{"romio_no_indep_rw", "true"}, {"romio_cb_read", "disable"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_EQ(read.hints.plan.write, Strategy::two_phase);
    EXPECT_EQ(read.hints.plan.read, Strategy::two_phase);
    EXPECT_EQ(ReadHints(Table{{"romio_no_indep_rw", "false"}}).hints, FileHints{});
}

TEST(HintsInLines, AreReadAsByRomio) {
    Table const none;
    EXPECT_EQ(hints_in_lines(""), none);
    EXPECT_EQ(hints_in_lines("\n\n# cb_nodes 1\n#cb_nodes 2\n"), none);
    EXPECT_EQ(hints_in_lines("cb_nodes\ncb_nodes 1 2\ncb_nodes=3\nno_hint 4"), none);
    EXPECT_EQ(hints_in_lines(std::string("cb_nodes\0 3\n\0", 14)), none);
    Table const two{{"cb_nodes", "3"}, {"romio_cb_write", "enable"}};
    EXPECT_EQ(hints_in_lines("cb_nodes 3\n  romio_cb_write \t enable  \r\ncb_nodes 4"), two);
}

TEST(HintsInLines, StandBehindWhatIsGiven) {
    FileHints const given =
        ReadHints(Table{{"cb_nodes", "3"}, {"cb_buffer_size", "nonsense"}}).hints;
    std::vector<Complaint> complaints;
    FileHints const read = read_hints_behind(
        {{"cb_nodes", "7"}, {"cb_buffer_size", "65536"}, {"romio_cb_read", "ENABLED"}}, given,
        complaints);
    EXPECT_EQ(read.plan.aggregator_count, 3);
    EXPECT_EQ(read.plan.window_bytes, 65536);
    EXPECT_EQ(read.plan.read, Strategy::automatic);
    EXPECT_EQ(read.given, given.given);
    EXPECT_EQ(complaints.size(), 1u);
}

}  // namespace
}  // namespace sluice::hints_test
