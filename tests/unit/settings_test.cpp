// Settings and hints: what is understood, what is refused, and that nonsense changes nothing.
#include "core/byte_count.hpp"
#include "core/nearest.hpp"
#include "core/settings.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <map>

namespace sluice {
namespace {

using Table = std::map<std::string, std::string>;

Lookup lookup_in(Table const& table) {
    return [table](char const* name) -> std::optional<std::string> {
        auto const found = table.find(name);
        return found == table.end() ? std::nullopt : std::optional(found->second);
    };
}

struct ReadSettings {
    explicit ReadSettings(Table const& table)
        : settings(read_settings(lookup_in(table), complaints)) {}
    std::vector<Complaint> complaints;
    Settings settings;
};

struct ReadHints {
    explicit ReadHints(Table const& table, FileHints before = {})
        : hints(read_hints(lookup_in(table), before, complaints)) {}
    std::vector<Complaint> complaints;
    FileHints hints;
};

/// Nothing that a user may reasonably mean by any knob.
constexpr char const* nonsense[] = {"",
                                    " ",
                                    "-1",
                                    "1x",
                                    "K",
                                    "1 K",
                                    "0x10",
                                    "1.5",
                                    "1e3",
                                    "16MB",
                                    "16Mi",
                                    "1KK",
                                    "maybe",
                                    "ON",
                                    "éß",
                                    "\n",
                                    "9223372036854775808",
                                    "9223372036854775807G",
                                    "%s%n"};

TEST(ParseBytes, NumbersAndUnits) {
    EXPECT_EQ(parse_bytes("0"), 0);
    EXPECT_EQ(parse_bytes("4096"), 4096);
    EXPECT_EQ(parse_bytes("64K"), 64 << 10);
    EXPECT_EQ(parse_bytes("64k"), 64 << 10);
    EXPECT_EQ(parse_bytes("16M"), 16 << 20);
    EXPECT_EQ(parse_bytes("1G"), 1 << 30);
    EXPECT_EQ(parse_bytes("8G"), Bytes{8} << 30);
}

TEST(ParseBytes, RefusesNonsense) {
    for (char const* const text : nonsense) EXPECT_FALSE(parse_bytes(text).has_value()) << text;
}

RC_GTEST_PROP(ParseBytes, ReadsWhatItIsGiven, ()) {
    auto const value = *rc::gen::inRange<Bytes>(0, Bytes{1} << 40);
    RC_ASSERT(parse_bytes(std::to_string(value)) == value);
    RC_ASSERT(parse_bytes(std::to_string(value) + "K") == value << 10);
}

RC_GTEST_PROP(ParseBytes, NeverNegativeWhateverTheText, (std::string const& text)) {
    auto const value = parse_bytes(text);
    RC_ASSERT(!value || (*value >= 0 && *value <= std::numeric_limits<Bytes>::max()));
}

TEST(Settings, DefaultsAreThoseOfTheTable) {
    ReadSettings const read(Table{});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_TRUE(read.settings.enabled);
    EXPECT_TRUE(read.settings.shared_memory);
    for (Knob const& knob : environment_knobs()) {
        ReadSettings const same(Table{{knob.name, knob.fallback}});
        EXPECT_TRUE(same.complaints.empty()) << knob.name;
        EXPECT_EQ(same.settings.memory_bytes, read.settings.memory_bytes) << knob.name;
        EXPECT_EQ(same.settings.log, read.settings.log) << knob.name;
        EXPECT_EQ(same.settings.stall_seconds, read.settings.stall_seconds) << knob.name;
        EXPECT_EQ(same.settings.storage_threads, read.settings.storage_threads) << knob.name;
        EXPECT_EQ(same.settings.affinity, read.settings.affinity) << knob.name;
    }
}

TEST(Settings, EachIsRead) {
    ReadSettings const read(Table{{"SLUICE", "off"},
                                  {"SLUICE_LOG", "2"},
                                  {"SLUICE_STATS", "1"},
                                  {"SLUICE_MEMORY", "64M"},
                                  {"SLUICE_RANKS_PER_NODE", "3"},
                                  {"SLUICE_SHARED_MEMORY", "off"},
                                  {"SLUICE_STALL", "7"},
                                  {"SLUICE_STORAGE_THREADS", "5"},
                                  {"SLUICE_STORAGE", "uring"},
                                  {"SLUICE_PROFILE", "machine.toml"},
                                  {"SLUICE_AFFINITY", "1,3-4"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_FALSE(read.settings.enabled);
    EXPECT_EQ(read.settings.log, 2);
    EXPECT_TRUE(read.settings.statistics);
    EXPECT_EQ(read.settings.memory_bytes, Bytes{64} << 20);
    EXPECT_EQ(read.settings.ranks_per_node, 3);
    EXPECT_FALSE(read.settings.shared_memory);
    EXPECT_EQ(read.settings.stall_seconds, 7);
    EXPECT_EQ(read.settings.storage_threads, 5);
    EXPECT_EQ(read.settings.hints.storage, StorageEngine::uring);
    EXPECT_EQ(read.settings.profile, "machine.toml");
    EXPECT_EQ(read.settings.affinity, parse_affinity("1,3-4"));
}

TEST(Settings, NonsenseIsToldAndIgnored) {
    Settings const plain = ReadSettings(Table{}).settings;
    for (Knob const& knob : environment_knobs()) {
        // Any text may name a file, or a folder of the installation.
        if (std::string(knob.name) == "SLUICE_MPI") continue;
        if (std::string(knob.name) == "SLUICE_DEVICE") continue;
        if (std::string(knob.name) == "SLUICE_PROFILE") continue;
        for (char const* const text : nonsense) {
            ReadSettings const read(Table{{knob.name, text}});
            EXPECT_EQ(read.complaints.size(), 1u) << knob.name << "=" << text;
            EXPECT_EQ(read.settings.enabled, plain.enabled);
            EXPECT_EQ(read.settings.memory_bytes, plain.memory_bytes);
            EXPECT_EQ(read.settings.ranks_per_node, plain.ranks_per_node);
            EXPECT_EQ(read.settings.stall_seconds, plain.stall_seconds);
        }
    }
}

TEST(Settings, AComplaintNamesTheVariableAndItsValue) {
    ReadSettings const read(Table{{"SLUICE_STALL", "soon"}});
    ASSERT_EQ(read.complaints.size(), 1u);
    EXPECT_EQ(read.complaints[0].name, "SLUICE_STALL");
    EXPECT_NE(read.complaints[0].text.find("SLUICE_STALL=soon"), std::string::npos);
}

TEST(Settings, ABadValueIsToldWithThoseThatThereAre) {
    ReadSettings const word(Table{{"SLUICE_PROGRESS", "fast"}});
    ASSERT_EQ(word.complaints.size(), 1u);
    EXPECT_EQ(word.complaints[0].text,
              "SLUICE_PROGRESS=fast is not understood; there are thread, calls; it is ignored");
    ReadSettings const number(Table{{"SLUICE_MEMORY", "16MB"}});
    ASSERT_EQ(number.complaints.size(), 1u);
    EXPECT_NE(number.complaints[0].text.find("64K"), std::string::npos);
    ReadHints const hint(Table{{"sluice_throttle", "many"}});
    ASSERT_EQ(hint.complaints.size(), 1u);
    EXPECT_NE(hint.complaints[0].text.find("sliding window"), std::string::npos);
}

TEST(Settings, VariablesOfToolsAndTestsAreKnown) {
    EXPECT_TRUE(unknown_variables({"SLUICE_NODES_INSIDE", "SLUICE_UPDATE_GOLDEN", "SLUICE_PRINT",
                                   "SLUICE_PICTURES", "SLUICE_TEST_FILE", "SLUICE_COMMAND"})
                    .empty());
}

TEST(Settings, HugeNumbersDoNotTurnNegative) {
    ReadSettings const read(Table{{"SLUICE_LOG", "4G"},
                                  {"SLUICE_RANKS_PER_NODE", "3000000000"},
                                  {"SLUICE_STORAGE_THREADS", "1000000"}});
    EXPECT_GE(read.settings.log, 0);
    EXPECT_GE(read.settings.ranks_per_node, 0);
    EXPECT_LE(read.settings.storage_threads, 64);
    EXPECT_EQ(ReadSettings(Table{{"SLUICE_STORAGE_THREADS", "0"}}).settings.storage_threads, 0);
}

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
    for (Knob const& knob : hint_knobs()) {
        if (knob.name == std::string("cb_config_list")) continue;  // Hosts have any name.
        for (char const* const text : nonsense) {
            ReadHints const read(Table{{knob.name, text}}, before);
            EXPECT_EQ(read.complaints.size(), 1u) << knob.name << "=" << text;
            EXPECT_EQ(read.hints, before) << knob.name << "=" << text;
        }
    }
}

TEST(Hints, HugeNumbersStayPositive) {
    ReadHints const read(Table{{"cb_nodes", "100G"}, {"cb_buffer_size", "1000000G"}});
    EXPECT_GT(read.hints.plan.aggregator_count, 0);
    EXPECT_GT(read.hints.plan.window_bytes, 0);
}

TEST(Hints, StorageIsRead) {
    EXPECT_EQ(ReadHints(Table{{"sluice_storage", "threads"}}).hints.storage,
              StorageEngine::threads);
    EXPECT_EQ(ReadHints(Table{{"sluice_storage", "uring"}}).hints.storage, StorageEngine::uring);
    EXPECT_EQ(ReadHints(Table{{"sluice_page_cache", "drop"}}).hints.page_cache, PageCache::drop);
    auto const direct = ReadHints(Table{{"sluice_storage", "direct"}}).hints;
    EXPECT_EQ(direct.storage, StorageEngine::threads);
    EXPECT_EQ(direct.page_cache, PageCache::bypass);
}

TEST(Hints, PosixAioIsServedByThreadsWithOneWarning) {
    ReadHints const read(Table{{"sluice_storage", "aio"}});
    EXPECT_EQ(read.hints.storage, StorageEngine::threads);
    ASSERT_EQ(read.complaints.size(), 1u);
    EXPECT_FALSE(read.complaints[0].refused);
    EXPECT_NE(read.complaints[0].text.find("threads is taken"), std::string::npos);
    EXPECT_NE(read.hints.given, 0u) << "the system's file does not count then";
}

TEST(Hints, DurableIsRead) {
    EXPECT_TRUE(ReadHints(Table{{"sluice_durable", "close"}}).hints.durable);
    EXPECT_FALSE(ReadHints(Table{{"sluice_durable", "never"}}).hints.durable);
}

TEST(Hints, InForceReadsBackAsWhatIsInForce) {
    FileHints set;
    set.durable = true;
    set.storage = StorageEngine::uring;
    set.plan.aggregator_count = 3;
    set.plan.stripe_count = 7;
    set.placement = {{{"node-1", 2}, {"*", 1}}, {4, 0}};
    set.plan.domains = Domains::groups;
    set.plan.group_count = 5;
    set.page_cache = PageCache::drop;
    set.plan.write = Strategy::two_phase;
    PlanLimits limits;
    limits.aggregator_count = 2;
    Table table;
    for (auto const& [name, value] : hints_in_force(set, limits)) table[name] = value;
    EXPECT_EQ(table.size(), hint_knobs().size());
    ReadHints const read(table);
    EXPECT_TRUE(read.complaints.empty());
    set.plan.window_bytes = window_bytes_default;  // Automatic values are spelt out.
    set.plan.stripe_bytes = stripe_bytes_default;
    set.given = read.hints.given;
    EXPECT_EQ(read.hints, set);
    for (auto const& [name, value] : hints_in_force(FileHints{}, limits)) table[name] = value;
    EXPECT_EQ(table.at("cb_nodes"), "2");
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

TEST(Settings, DocumentationNamesEachWithItsDefault) {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR) + "/docs/hints.md");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::size_t rows = 0;
    for (auto const knobs : {environment_knobs(), hint_knobs()}) {
        rows += knobs.size();
        for (Knob const& knob : knobs) {
            auto const row = std::string("\n| `") + knob.name + "` | `" + knob.fallback + "` | ";
            EXPECT_NE(text.find(row), std::string::npos) << "docs/hints.md lacks" << row;
        }
    }
    std::size_t documented = 0;
    for (auto at = text.find("\n| `"); at != text.npos; at = text.find("\n| `", at + 1)) {
        ++documented;
    }
    EXPECT_EQ(documented, rows) << "docs/hints.md has rows that the library does not know";
}

TEST(Settings, HintsOfAllFilesComeFromTheEnvironment) {
    std::vector<Complaint> complaints;
    auto const settings = read_settings(
        [](char const* name) -> std::optional<std::string> {
            if (std::string(name) != "SLUICE_HINTS") return std::nullopt;
            return "cb_nodes=3;sluice_exchange_data=one-layer,pairwise;sluice_throttle=4,batches;"
                   "cb_nodse=2;nothing";
        },
        complaints);
    EXPECT_EQ(settings.hints.plan.aggregator_count, 3);
    EXPECT_EQ(settings.hints.plan.data, (Delivery{Kernel::pairwise, Layers::one}));
    EXPECT_EQ(settings.hints.plan.throttle, (Throttle{4, 1}));
    ASSERT_EQ(complaints.size(), 2u);
    EXPECT_NE(complaints[0].text.find("cb_nodse=2"), std::string::npos);
    EXPECT_NE(complaints[1].text.find("nothing"), std::string::npos);
}

TEST(Names, TheNearestOneIsMeant) {
    std::vector<std::string_view> const names{"SLUICE_PROGRESS", "SLUICE_PROFILE", "SLUICE_LOG"};
    EXPECT_EQ(nearest("SLUICE_PROGESS", names), "SLUICE_PROGRESS");
    EXPECT_EQ(nearest("SLUICE_LOGS", names), "SLUICE_LOG");
    EXPECT_EQ(nearest("SOMETHING_ELSE", names), std::nullopt);
    EXPECT_EQ(nearest("", names), std::nullopt);
}

TEST(Names, UnknownOnesAreToldWithTheNearest) {
    auto const variables =
        unknown_variables({"PATH", "SLUICE_LOG", "SLUICE_PROGESS", "SLUICE_TEST_STEP", "SLUICE"});
    ASSERT_EQ(variables.size(), 1u);
    EXPECT_NE(variables[0].text.find("did you mean SLUICE_PROGRESS?"), std::string::npos);
    auto const hints = unknown_hints({"sluice_durabel", "sluice_durable", "cb_nodez"});
    ASSERT_EQ(hints.size(), 1u);
    EXPECT_NE(hints[0].text.find("did you mean sluice_durable?"), std::string::npos);
}

}  // namespace
}  // namespace sluice
