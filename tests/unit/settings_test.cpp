// Settings: what is understood, what is refused, and that nonsense changes nothing.
#include "base/byte_count.hpp"
#include "base/nearest.hpp"
#include "settings_cases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

namespace sluice::settings_test {
namespace {

using namespace testing;

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

TEST(ParseBehind, SizeAndFolder) {
    EXPECT_EQ(parse_behind("64K")->bytes, 64 << 10);
    EXPECT_EQ(parse_behind("64K")->folder, "");
    EXPECT_EQ(parse_behind("1G,/a/b,c")->bytes, 1 << 30);
    EXPECT_EQ(parse_behind("1G,/a/b,c")->folder, "/a/b,c");
    for (char const* const text : {"", ",", "1G,", ",/a", "/a", "1x,/a"})
        EXPECT_FALSE(parse_behind(text)) << text;
}

TEST(ParseNetwork, WaysAndProviders) {
    using Way = NetworkSetting::Way;
    EXPECT_EQ(parse_network("auto"), NetworkSetting{});
    EXPECT_EQ(parse_network("mpi"), (NetworkSetting{Way::mpi, ""}));
    EXPECT_EQ(parse_network("fabric"), (NetworkSetting{Way::fabric, ""}));
    EXPECT_EQ(parse_network("fabric:tcp;ofi_rxm"), (NetworkSetting{Way::fabric, "tcp;ofi_rxm"}));
    for (char const* const text : {"", "fabric:", "tcp", "MPI", "fabrics"})
        EXPECT_FALSE(parse_network(text)) << text;
}

TEST(ParseServed, OneWordAndPerhapsChain) {
    auto const says = [](char const* text, bool enabled, bool collectives, bool chain) {
        auto const setting = parse_served(text);
        return setting && setting->enabled == enabled && setting->collectives == collectives &&
               setting->chain == chain;
    };
    EXPECT_TRUE(says("on", true, false, false));
    EXPECT_TRUE(says("off", false, false, false));
    EXPECT_TRUE(says("all", true, true, false));
    EXPECT_TRUE(says("chain", true, false, true));
    EXPECT_TRUE(says("all,chain", true, true, true));
    EXPECT_TRUE(says("chain,all", true, true, true));
    EXPECT_TRUE(says("off,chain", false, false, true));
    for (char const* const text : {"", "ON", "on,off", "all,", ",chain", "chain,chain", "on,fast"})
        EXPECT_FALSE(parse_served(text)) << text;
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
    ReadSettings const read(
        Table{{"SLUICE", "off"},
              {"SLUICE_LOG", "2"},
              {"SLUICE_MEMORY", "64M"},
              {"SLUICE_TEST", "ranks_per_node=3;shared_memory=off;cache=1K;view_pieces=7;"
                              "device=hdd;libfabric=busy.so;stall=7"},
              {"SLUICE_STORAGE_THREADS", "5"},
              {"SLUICE_HINTS", "sluice_page_cache=direct"},
              {"SLUICE_PROFILE", "machine.toml"},
              {"SLUICE_TRACE", "a,b.json,16M,ranks=0-3,8"},
              {"SLUICE_AFFINITY", "1,3-4"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_FALSE(read.settings.enabled);
    EXPECT_EQ(read.settings.log, LogLevel::summaries);
    EXPECT_EQ(read.settings.memory_bytes, Bytes{64} << 20);
    EXPECT_EQ(read.settings.ranks_per_node, 3);
    EXPECT_FALSE(read.settings.shared_memory);
    EXPECT_EQ(read.settings.cache_bytes, 1024);
    EXPECT_EQ(read.settings.view_pieces, 7);
    EXPECT_EQ(read.settings.device, "hdd");
    EXPECT_EQ(read.settings.libfabric, "busy.so");
    EXPECT_EQ(read.settings.stall_seconds, 7);
    EXPECT_EQ(read.settings.storage_threads, 5);
    EXPECT_EQ(read.settings.hints.page_cache, PageCache::direct_io);
    EXPECT_EQ(read.settings.profile, "machine.toml");
    EXPECT_EQ(read.settings.affinity, parse_affinity("1,3-4"));
    EXPECT_EQ(read.settings.trace.file, "a,b.json");
    EXPECT_EQ(read.settings.trace.bytes, Bytes{16} << 20);
    EXPECT_FALSE(read.settings.trace.ranks.contains(7));
}

TEST(Settings, ANumberSaysHowMuchIsLogged) {
    auto const level = [](char const* text) {
        return ReadSettings(Table{{"SLUICE_LOG", text}}).settings.log;
    };
    EXPECT_EQ(level("0"), LogLevel::silent);
    EXPECT_EQ(level("1"), LogLevel::warnings);
    EXPECT_EQ(level("2"), LogLevel::summaries);
    EXPECT_EQ(level("3"), LogLevel::decisions);
    EXPECT_EQ(level("4G"), LogLevel::decisions);
}

TEST(ParseTrace, AFileAndPerhapsASize) {
    EXPECT_EQ(parse_trace("t.json")->bytes, TraceSetting{}.bytes);
    EXPECT_EQ(parse_trace("dir/a,b")->file, "dir/a,b");
    EXPECT_EQ(parse_trace("a,b,16M")->file, "a,b");
    EXPECT_EQ(parse_trace("a,b,16M")->bytes, Bytes{16} << 20);
    EXPECT_EQ(parse_trace("none")->file, "");
    EXPECT_FALSE(parse_trace(""));
    EXPECT_FALSE(parse_trace(",16M"));
}

TEST(ParseTrace, RanksAreLast) {
    for (char const* const text : {"t.json,ranks=0-3,8", "t.json,16M,ranks=0-3,8"}) {
        auto const setting = parse_trace(text);
        ASSERT_TRUE(setting) << text;
        EXPECT_EQ(setting->file, "t.json");
        EXPECT_TRUE(setting->ranks.contains(3) && setting->ranks.contains(8));
        EXPECT_FALSE(setting->ranks.contains(4));
    }
    EXPECT_EQ(parse_trace("t.json,16M,ranks=2")->bytes, Bytes{16} << 20);
    EXPECT_EQ(parse_trace("t.json,ranks=2")->bytes, TraceSetting{}.bytes);
    EXPECT_TRUE(parse_trace("t.json,ranks=all")->ranks.contains(1000));
    for (char const* const text : {"t.json,ranks=", "t.json,ranks=3-1", "t.json,ranks=x",
                                   "t.json,ranks=0,16M", ",ranks=0", ",16M,ranks=0"})
        EXPECT_FALSE(parse_trace(text)) << text;
    ReadSettings const read(Table{{"SLUICE_TRACE", "t.json,ranks=3-1"}});
    ASSERT_EQ(read.complaints.size(), 1u);
    EXPECT_NE(read.complaints[0].text.find("SLUICE_TRACE=t.json,ranks=3-1 is not understood"),
              std::string::npos);
    EXPECT_EQ(read.settings.trace.file, "");
}

TEST(Settings, NonsenseIsToldAndIgnored) {
    Settings const plain = ReadSettings(Table{}).settings;
    for (Knob const& knob : environment_knobs()) {
        // Any text may name a file, or a folder of the installation.
        if (std::string(knob.name) == "SLUICE_MPI") continue;
        if (std::string(knob.name) == "SLUICE_PROFILE") continue;
        if (std::string(knob.name) == "SLUICE_TRACE") continue;
        if (std::string(knob.name) == "SLUICE_RECORD") continue;
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

TEST(Settings, NonsenseInWordsOfTestsIsToldAndIgnored) {
    Settings const plain = ReadSettings(Table{}).settings;
    for (char const* const text : nonsense) {
        EXPECT_EQ(ReadSettings(Table{{"SLUICE_TEST", text}}).complaints.size(), 1u) << text;
        for (Knob const& knob : test_knobs()) {
            std::string const name = knob.name;
            if (name == "device" || name == "libfabric") continue;  // Any text may name a file.
            ReadSettings const read(Table{{"SLUICE_TEST", knob.name + std::string("=") + text}});
            EXPECT_EQ(read.complaints.size(), 1u) << knob.name << "=" << text;
            EXPECT_EQ(read.settings.ranks_per_node, plain.ranks_per_node);
            EXPECT_EQ(read.settings.cache_bytes, plain.cache_bytes);
        }
    }
}

/// At most so many are for users; those for tests and experiments have tables of their own.
TEST(Settings, AreFew) {
    EXPECT_LE(environment_knobs().size(), 12u);
    EXPECT_LE(hint_knobs().size(), 12u);
}

TEST(Settings, AComplaintNamesTheVariableAndItsValue) {
    ReadSettings const read(Table{{"SLUICE_MEMORY", "much"}});
    ASSERT_EQ(read.complaints.size(), 1u);
    EXPECT_EQ(read.complaints[0].name, "SLUICE_MEMORY");
    EXPECT_NE(read.complaints[0].text.find("SLUICE_MEMORY=much"), std::string::npos);
}

TEST(Settings, ABadValueIsToldWithThoseThatThereAre) {
    ReadSettings const word(Table{{"SLUICE", "fast"}});
    ASSERT_EQ(word.complaints.size(), 1u);
    EXPECT_NE(word.complaints[0].text.find("SLUICE=fast is not understood; it says off: every"),
              std::string::npos);
    ReadSettings const number(Table{{"SLUICE_MEMORY", "16MB"}});
    ASSERT_EQ(number.complaints.size(), 1u);
    EXPECT_NE(number.complaints[0].text.find("64K"), std::string::npos);
    ReadHints const hint(Table{{"sluice_exchange", "throttle:many"}});
    ASSERT_EQ(hint.complaints.size(), 1u);
    EXPECT_NE(hint.complaints[0].text.find("throttle:32"), std::string::npos);
}

TEST(Settings, VariablesOfToolsAndTestsAreKnown) {
    EXPECT_TRUE(unknown_variables({"SLUICE_NODES_INSIDE", "SLUICE_UPDATE_GOLDEN", "SLUICE_PRINT",
                                   "SLUICE_PICTURES", "SLUICE_TEST_FILE", "SLUICE_COMMAND"})
                    .empty());
}

TEST(Settings, HugeNumbersDoNotTurnNegative) {
    ReadSettings const read(
        Table{{"SLUICE_TEST", "ranks_per_node=3000000000"}, {"SLUICE_STORAGE_THREADS", "1000000"}});
    EXPECT_GE(read.settings.ranks_per_node, 0);
    EXPECT_LE(read.settings.storage_threads, 64);
    EXPECT_EQ(ReadSettings(Table{{"SLUICE_STORAGE_THREADS", "0"}}).settings.storage_threads, 0);
}

TEST(Settings, DocumentationNamesEachWithItsDefault) {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR) + "/docs/hints.md");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    std::size_t rows = 0;
    for (auto const knobs :
         {environment_knobs(), test_knobs(), hint_knobs(), experiment_hint_knobs()}) {
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
    EXPECT_LE(documented, rows) << "docs/hints.md has rows that the library does not know";
}

TEST(Settings, DocumentationHasHintsForUsersApartFromThoseForExperiments) {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR) + "/docs/hints.md");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    auto const experiments = text.rfind("\n### For experiments");
    ASSERT_NE(experiments, std::string::npos);
    auto const place = [&](Knob const& knob) {
        return text.find(std::string("\n| `") + knob.name + "` |");
    };
    for (Knob const& knob : hint_knobs()) EXPECT_LT(place(knob), experiments) << knob.name;
    for (Knob const& knob : experiment_hint_knobs())
        EXPECT_GT(place(knob), experiments) << knob.name;
}

TEST(Settings, HintsOfAllFilesComeFromTheEnvironment) {
    std::vector<Complaint> complaints;
    auto const settings = read_settings(
        [](char const* name) -> std::optional<std::string> {
            if (std::string(name) != "SLUICE_HINTS") return std::nullopt;
            return "cb_nodes=3;sluice_exchange=data:one-layer,data:pairwise,throttle:4,batches;"
                   "cb_nodse=2;nothing";
        },
        complaints);
    EXPECT_EQ(settings.hints.plan.aggregator_count, 3);
    EXPECT_EQ(settings.hints.plan.data, (Delivery{Kernel::pairwise, Layers::one, 0, 0, 0, {4, 1}}));
    ASSERT_EQ(complaints.size(), 2u);
    EXPECT_NE(complaints[0].text.find("cb_nodse=2"), std::string::npos);
    EXPECT_NE(complaints[1].text.find("nothing"), std::string::npos);
}

TEST(Settings, OfTwoValuesForAHintTheLastHolds) {
    ReadSettings const read(Table{{"SLUICE_HINTS", "sluice_read_ahead=256M;cb_nodes=2;"
                                                   "sluice_read_ahead=1M"}});
    EXPECT_TRUE(read.complaints.empty());
    EXPECT_EQ(read.settings.hints.read_ahead, 1 << 20);
}

TEST(Settings, AMisspeltNameInAListIsToldWithTheNearest) {
    auto const said = [](char const* variable, char const* text) {
        ReadSettings const read(Table{{variable, text}});
        return read.complaints.size() == 1 ? read.complaints[0].text : "not one complaint";
    };
    EXPECT_EQ(
        said("SLUICE_HINTS", "cb_nodes=2;sluice_page_cahce=direct"),
        "SLUICE_HINTS=sluice_page_cahce=direct: sluice_page_cahce is not known and does nothing; "
        "did you mean sluice_page_cache?");
    EXPECT_NE(said("SLUICE_TEST", "view_peices=7").find("did you mean view_pieces?"),
              std::string::npos);
    for (char const* const text : {"cb_nodes:2", "cb_nodes", "other=1"}) {
        EXPECT_EQ(said("SLUICE_HINTS", text),
                  std::string("SLUICE_HINTS=") + text +
                      " is not name=value with a name that `sluice info` lists; it is ignored");
    }
}

TEST(Names, TheNearestOneIsMeant) {
    std::vector<std::string_view> const names{"SLUICE_NETWORK", "SLUICE_PROFILE", "SLUICE_LOG"};
    EXPECT_EQ(nearest("SLUICE_PROFIEL", names), "SLUICE_PROFILE");
    EXPECT_EQ(nearest("SLUICE_LOGS", names), "SLUICE_LOG");
    EXPECT_EQ(nearest("SOMETHING_ELSE", names), std::nullopt);
    EXPECT_EQ(nearest("", names), std::nullopt);
}

TEST(Names, UnknownOnesAreToldWithTheNearest) {
    auto const variables =
        unknown_variables({"PATH", "SLUICE_LOG", "SLUICE_PROFIEL", "SLUICE_TEST_STEP", "SLUICE"});
    ASSERT_EQ(variables.size(), 1u);
    EXPECT_NE(variables[0].text.find("did you mean SLUICE_PROFILE?"), std::string::npos);
    auto const hints = unknown_hints({"sluice_clsoe", "sluice_close", "cb_nodez"});
    ASSERT_EQ(hints.size(), 1u);
    EXPECT_NE(hints[0].text.find("did you mean sluice_close?"), std::string::npos);
}

}  // namespace
}  // namespace sluice::settings_test
