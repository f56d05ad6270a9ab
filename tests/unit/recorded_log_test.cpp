// The format of recorded logs: what is written is read again, whole, cut off, damaged, or in parts.
#include "system/part_file.hpp"
#include "tools/recorded/log.hpp"

#include "base/flatten.hpp"
#include "tools/recorded/accesses.hpp"
#include "tools/recorded/text.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace sluice::recorded_log_test {
namespace {

using namespace record;

std::shared_ptr<TypeTree const> sealed(TypeTree tree) {
    tree.seal();
    return std::make_shared<TypeTree const>(std::move(tree));
}

std::shared_ptr<TypeTree const> element(Bytes size) {
    TypeTree tree;
    tree.size = size;
    tree.bounded = true;
    tree.extent = size;
    tree.form = ElementForm::number_8;
    return sealed(std::move(tree));
}

std::shared_ptr<TypeTree const> vector_of(std::shared_ptr<TypeTree const> part, int count,
                                          int length, int stride) {
    TypeTree tree;
    tree.maker = Maker::vector;
    tree.ints = {count, length, stride};
    tree.parts = {std::move(part)};
    return sealed(std::move(tree));
}

/// Lines of a rank with two datatypes and some calls.
std::string lines_of(int rank, bool ended = true) {
    std::string text;
    LineWriter line(text);
    line.name(signature).number(version).end();
    line.name("rank").number(rank).field("ranks", 2).field("program", "a b=c%\n").end();
    line.name("type").number(0).field("size", 8).field("extent", 8);
    write_type_tree(line, *element(8), {});
    line.end();
    line.name("type").number(1).field("size", 48).field("extent", 80);
    write_type_tree(line, *vector_of(element(8), 3, 2, 4), std::vector<std::int64_t>{0});
    line.end();
    line.name("write_at_all").number(0).number(1000).number(20).field("n", 3).field("t", 1);
    line.field("at", std::int64_t{1} << 40).end();
    line.name("waitall").number(-1).number(2000).number(5);
    line.list("r", std::span<std::int64_t const>(std::vector<std::int64_t>{4, 5}));
    line.end();
    if (ended) line.name("end").number(3000).end();
    return text;
}

TEST(RecordedLog, WordsSurviveTheirCode) {
    std::string const odd = "a b=c%41\n\x01 \xc3\xa4 ,;";
    EXPECT_EQ(decoded(encoded(odd)), odd);
    EXPECT_EQ(encoded(odd).find_first_of(" =\n"), std::string::npos);
    EXPECT_EQ(decoded("%4"), "%4");  // Cut off.
}

TEST(RecordedLog, CallsAreReadAgain) {
    std::string const text = lines_of(1) + lines_of(0);
    Log const log = read_log(text);
    EXPECT_EQ(log.error, "");
    EXPECT_EQ(log.missing(), "");
    ASSERT_EQ(log.ranks.size(), 2U);
    RankLog const& one = *log.of_rank(1);
    EXPECT_EQ(log.ranks.front().rank, 0);
    EXPECT_EQ(one.head.text("program"), "a b=c%\n");
    ASSERT_EQ(one.entries.size(), 4U);
    Entry const& write = one.entries[2];
    EXPECT_EQ(write.name, "write_at_all");
    EXPECT_EQ(write.subject, 0);
    EXPECT_EQ(write.begin, 1000);
    EXPECT_EQ(write.took, 20);
    EXPECT_TRUE(write.is_call());
    EXPECT_FALSE(one.entries[0].is_call());
    EXPECT_EQ(write.number("at", -1), std::int64_t{1} << 40);
    EXPECT_EQ(write.number("r", -1), -1);
    EXPECT_EQ(one.entries[3].list("r"), (std::vector<std::int64_t>{4, 5}));
}

TEST(RecordedLog, DatatypesAreReadAgain) {
    std::string const text = lines_of(0);
    Log const log = read_log(text);
    Types types(log.ranks.front());
    ASSERT_TRUE(types.find(1));
    EXPECT_EQ(*types.find(1)->tree, *vector_of(element(8), 3, 2, 4));
    EXPECT_EQ(types.find(1)->tree->parts.front()->form, ElementForm::number_8);
    auto const layout = types.layout(1);
    EXPECT_EQ(layout->tile_bytes(), 48);
    EXPECT_EQ(layout->offset_at(16), 32);
    EXPECT_EQ(types.layout(7), nullptr);
}

TEST(RecordedLog, OneRankAlone) {
    std::string const text = lines_of(0) + lines_of(1);
    Log const log = read_log(text, 1);
    ASSERT_EQ(log.ranks.size(), 1U);
    EXPECT_EQ(log.ranks.front().rank, 1);
    EXPECT_EQ(log.expected, 2);
}

/// Wherever it ends, what comes before is read, and nothing else is made of it.
TEST(RecordedLog, CutOffAnywhere) {
    std::string const whole = lines_of(0);
    std::size_t most = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        std::string const text = whole.substr(0, length);
        Log const log = read_log(text);
        bool const has_head = length > whole.find('\n', whole.find("rank"));
        ASSERT_EQ(log.ranks.empty(), !has_head) << length;
        if (!has_head) continue;
        EXPECT_GE(log.ranks.front().entries.size(), most);
        most = log.ranks.front().entries.size();
        bool const complete = length == whole.size();
        EXPECT_EQ(log.ranks.front().complete, complete);
        EXPECT_EQ(log.missing().empty(), false);  // Rank 1 is not there.
    }
    EXPECT_EQ(most, 4U);
}

TEST(RecordedLog, DamageEndsARankNotTheLog) {
    std::string damaged = lines_of(0);
    auto const at = damaged.find("write_at_all");
    damaged.replace(at, 5, std::string(5, '\0'));
    std::string const text = damaged + lines_of(1);
    Log const log = read_log(text);
    ASSERT_EQ(log.ranks.size(), 2U);
    EXPECT_EQ(log.ranks[0].entries.size(), 2U);
    EXPECT_FALSE(log.ranks[0].complete);
    EXPECT_TRUE(log.ranks[1].complete);
    EXPECT_EQ(log.missing(), "the log of 1 ranks ends before MPI_Finalize");
}

TEST(RecordedLog, OtherFilesAreRefused) {
    EXPECT_NE(read_log("[machine]\nnodes = 4\n").error, "");
    EXPECT_NE(read_log("").error, "");
    EXPECT_NE(read_log("sluice-record 2\nrank 0 ranks=1\n").error, "");
}

/// A datatype whose numbers are not all there is none, and no crash.
TEST(RecordedLog, DatatypesThatAreNotWhole) {
    for (char const* const line :
         {"type 1 maker=vector ints=3,2 parts=0",
          "type 1 maker=indexed ints=100,1,1 parts=0",
          "type 1 maker=subarray ints=2,4,4,2 parts=0",
          "type 1 maker=darray ints=1,0 parts=0",
          "type 1 maker=structure ints=2,1,1 places=0,8 parts=0 which=0,9",
          "type 1 maker=contiguous ints=5 parts=3",
          "type 1 maker=spiral ints=5 parts=0",
          "type 1 maker=hvector counts=1,2 parts=0",
          "type 1 maker=resized parts=0",
          "type 1 maker=indexed counts=9223372036854775807,1 parts=0",
          "type 1 maker=indexed ints=-5,1,1 parts=0",
          "type 1 maker=structure ints=1,1 places=0",
          "type 1 maker=structure ints=2,1,1 places=0,8 parts=0 which=0",
          "type 1 maker=subarray counts=4,4000000000000000000,0 ints=1,56 parts=0",
          "type 1 maker=subarray ints=1,4,2,3,56 parts=0",
          "type 1 maker=subarray ints=-1,56 parts=0",
          "type 1 maker=darray ints=2,0,1,4,1,-1,0,56 parts=0",
          "type 1 maker=darray ints=2,0,1,4,1,0,2,56 parts=0",
          "type 1 maker=darray ints=2,2,1,4,1,-1,2,56 parts=0",
          "type 1 maker=darray ints=2,0,1,4,3,-1,2,56 parts=0"}) {
        auto const first =
            parse_line("type 0 size=8 extent=8 maker=element element=8 upto=8 lower=0");
        auto const second = parse_line(line);
        ASSERT_TRUE(first && second);
        RankLog log;
        log.entries = {*first, *second};
        Types types(log);
        EXPECT_NE(types.find(0)->tree, nullptr);
        EXPECT_EQ(types.find(1)->tree, nullptr) << line;
    }
}

/// Each datatype is made of the one before it, twice or once, so a tree doubles or deepens with
/// each line. The last one is short, and has more pieces than memory has room for.
TEST(RecordedLog, DatatypesThatGrowForEver) {
    auto const last_of = [](int count, std::string const& made) {
        RankLog log;
        std::vector<std::string> lines{"type 0 maker=element element=0"};
        for (int i = 1; i < count; ++i) {
            std::string const before = std::to_string(i - 1);
            lines.push_back("type " + std::to_string(i) + " " + made + " parts=" + before);
            if (made.find("which") != std::string::npos) lines.back() += "," + before;
        }
        for (std::string const& line : lines) log.entries.push_back(parse_line(line).value());
        Types types(log);
        EXPECT_TRUE(types.layout(9));
        return types.find(count - 1)->tree;
    };
    EXPECT_EQ(last_of(100, "maker=structure ints=2,1,1 places=0,0 which=0,1"), nullptr);
    EXPECT_EQ(last_of(100'000, "maker=dup"), nullptr);
    RankLog log;
    for (char const* const line : {"type 0 maker=element element=4 lower=0 upto=0",
                                   "type 1 maker=hvector counts=72036854775805,4,2 parts=0",
                                   "type 2 maker=indexed ints=2,1,1,0,9 parts=0 which=0"})
        log.entries.push_back(parse_line(line).value());
    Types types(log);
    EXPECT_EQ(types.find(1)->tree, nullptr);
    EXPECT_NE(types.find(2)->tree, nullptr);
}

/// What no call can have asked for has no bytes, and no sum overflows.
TEST(RecordedLog, AccessesWithNumbersThatNobodyMeant) {
    std::string text = lines_of(0, false) + "group 0 ranks=0\ngroup 1 ranks=0,0\n";
    std::string const most = "9223372036854775807";
    for (std::string const group : {"0", "1"}) {
        text += "open 0 1 1 group=" + group + " name=f\n";
        for (std::string const at : {"0", "-1", "1000000000000000000", most.c_str()}) {
            text += "set_view 0 2 1 at=" + at + " etype=0 filetype=1\n";
            text += "seek 0 3 1 at=" + at + " whence=cur\n";
            for (std::string const n : {"3", "-1", "200000000000000000", most.c_str()})
                for (std::string const call : {"write_all", "write", "write_at_all at="})
                    text += call.substr(0, call.find(' ')) + " 0 4 1 t=0 n=" + n +
                            (call.ends_with('=') ? " at=" + at : "") + "\n";
        }
    }
    auto const accesses = tools::accesses_of(read_log(text));
    ASSERT_FALSE(accesses.all.empty());
    for (auto const& access : accesses.all) {
        EXPECT_GT(access.bytes, 0);
        EXPECT_LE(access.bytes, offset_limit);
        for (Request const& request : access.requests)
            EXPECT_LE(request.position, offset_limit - request.bytes);
    }
    EXPECT_GT(accesses.independent_bytes, 0);
}

struct RecordedParts : ::testing::Test {
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("sluice-record-" + std::to_string(::getpid()));
    std::string log = folder / "job.record";
    void SetUp() override { std::filesystem::create_directories(folder); }
    void TearDown() override { std::filesystem::remove_all(folder); }
};

struct Part : PartFile {
    Part() : PartFile(log_kind) {}
};

TEST_F(RecordedParts, MoveIntoOneLog) {
    Part zero, one;
    ASSERT_EQ(zero.open(log, 0), "");
    ASSERT_EQ(zero.clear_others(), "");
    ASSERT_EQ(one.open(log, 1), "");
    ASSERT_EQ(one.append(lines_of(1)), "");
    ASSERT_EQ(zero.append(lines_of(0)), "");
    ASSERT_EQ(one.move_into_file(), "");
    EXPECT_EQ(read_log(read_record(log).text).missing(), "");  // The other's part is read along.
    ASSERT_EQ(zero.move_into_file(), "");
    EXPECT_FALSE(std::filesystem::exists(PartsFolder::path_of(log)));
    EXPECT_TRUE(is_record(log));
    RecordText const text = read_record(log);
    EXPECT_EQ(read_log(text.text).ranks.size(), 2U);
}

TEST_F(RecordedParts, OfAKilledJob) {
    {
        Part zero, one;
        ASSERT_EQ(zero.open(log, 0), "");
        ASSERT_EQ(one.open(log, 1), "");
        ASSERT_EQ(zero.append(lines_of(0, false) + "write_at 0 12"), "");
        ASSERT_EQ(one.append(lines_of(1, false)), "");
    }
    ASSERT_TRUE(is_record(log));
    RecordText const text = read_record(log);
    ASSERT_EQ(text.error, "");
    Log const read = read_log(text.text);
    ASSERT_EQ(read.ranks.size(), 2U);
    EXPECT_EQ(read.ranks[0].entries.size(), 4U);
    EXPECT_EQ(read.missing(), "the log of 2 ranks ends before MPI_Finalize");
    // The next job begins anew.
    Part zero;
    ASSERT_EQ(zero.open(log, 0), "");
    ASSERT_EQ(zero.clear_others(), "");
    EXPECT_EQ(read_record(log).text, "");
}

TEST_F(RecordedParts, OfAJobThatRuns) {
    Part running, other;
    ASSERT_EQ(running.open(log, 0), "");
    ASSERT_EQ(running.append(lines_of(0)), "");
    EXPECT_NE(other.open(log, 0).find("another job"), std::string::npos);
    ASSERT_EQ(running.move_into_file(), "");
    EXPECT_EQ(read_log(read_record(log).text).ranks.size(), 1U);
}

TEST_F(RecordedParts, LeaveOtherFilesAlone) {
    std::ofstream(log) << "my thesis\n";
    Part part;
    EXPECT_NE(part.open(log, 0), "");
    EXPECT_TRUE(std::filesystem::exists(log));
    EXPECT_NE(Part().open("/proc/no/such/folder", 0), "");
}

/// Somebody may keep a folder of this name, with files whose names are numbers.
TEST_F(RecordedParts, LeaveAFolderOfOtherFilesAlone) {
    std::string const parts = PartsFolder::path_of(log);
    std::filesystem::create_directories(parts);
    for (char const* const name : {"0", "1", "7", "0042", "notes"})
        std::ofstream(parts + "/" + name) << "precious";
    Part zero, two;
    EXPECT_NE(zero.open(log, 0).find("is left alone"), std::string::npos);
    ASSERT_EQ(two.open(log, 2), "");
    ASSERT_EQ(two.append(lines_of(2)), "");
    ASSERT_EQ(two.clear_others(), "");
    EXPECT_EQ(read_record(log).text, lines_of(2));
    ASSERT_EQ(two.move_into_file(), "");
    for (char const* const name : {"0", "1", "7", "0042", "notes"})
        EXPECT_EQ(std::filesystem::file_size(parts + "/" + name), 8U) << name;
}

TEST_F(RecordedParts, FollowNoLink) {
    std::string const parts = PartsFolder::path_of(log), victim = folder / "victim";
    std::filesystem::create_directories(parts);
    std::ofstream(victim) << "precious";
    std::filesystem::create_symlink(victim, parts + "/0");
    EXPECT_NE(Part().open(log, 0), "");
    EXPECT_EQ(std::filesystem::file_size(victim), 8U);
}

}  // namespace
}  // namespace sluice::recorded_log_test
