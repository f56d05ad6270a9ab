// Parts of a trace as files: written while a rank runs, read after it was killed, merged into one
// file.
#include "drawn.hpp"

#include "events/rows.hpp"
#include "system/trace_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

namespace sluice::trace_merge_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t room = 8;

struct Merging : ::testing::Test {
    void SetUp() override {
        std::string folder = ::testing::TempDir() + "/trace.XXXXXX";
        ASSERT_NE(mkdtemp(folder.data()), nullptr);
        folder_ = folder;
        file_ = folder + "/t.json";
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string text() const {
        std::ifstream stream(file_);
        std::ostringstream all;
        all << stream.rdbuf();
        return all.str();
    }

    fs::path folder_;
    std::string file_;
};

/// A rank that records.
class Rank {
public:
    Rank(std::string const& file, int rank, std::uint64_t job) : why(part_.file.open(file, rank)) {
        header_->rank = rank;
        header_->ranks = 2;
        header_->job = job;
        header_->lanes[0] = header_->add_name("program");
    }
    void add(std::int64_t begin) {
        new_.push_back(
            {.begin = begin, .end = begin + 5, .operation = begin, .kind = TraceKind::claims});
    }
    bool write(bool ended = false) {
        header_->ended = ended ? 1 : 0;
        why = part_.write(new_);
        new_.clear();
        if (why.empty()) why = part_.write(*header_);
        return why.empty();
    }
    TraceHeader& header() { return *header_; }

private:
    TracePartFile part_{room};
    std::unique_ptr<TraceHeader> header_ = std::make_unique<TraceHeader>();
    std::vector<TraceEvent> new_;

public:
    std::string why;
};

std::unique_ptr<TracePart> read_part(std::string const& file) {
    return read_trace_part(trace_kind.folder(file).find(0), true);
}

bool has_parts(std::string const& file) { return !trace_kind.folder(file).ranks().empty(); }

TEST_F(Merging, what_was_overwritten_is_counted_and_the_rest_is_in_order) {
    Rank rank(file_, 0, 1);
    for (int i = 0; i < 3; ++i) rank.add(i);
    ASSERT_TRUE(rank.write());
    for (int i = 3; i < 21; ++i) rank.add(i);
    ASSERT_TRUE(rank.write(true));
    auto const part = read_part(file_);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->header.missing(), 13U);
    ASSERT_EQ(part->events.size(), room);
    auto const slices = arrange(*part).slices;
    ASSERT_EQ(slices.size(), room);
    for (std::size_t i = 0; i < room; ++i)
        EXPECT_EQ(slices[i].event.begin, static_cast<std::int64_t>(13 + i));
}

TEST_F(Merging, what_is_written_in_turns_is_there_once) {
    Rank rank(file_, 0, 1);
    rank.add(1);
    ASSERT_TRUE(rank.write());
    rank.add(2);
    ASSERT_TRUE(rank.write());
    EXPECT_EQ(read_part(file_)->events.size(), 2U);
}

TEST_F(Merging, parts_become_one_file_and_are_removed) {
    Rank first(file_, 0, 1), second(file_, 1, 1);
    first.add(100);
    second.add(1000);
    second.header().first = {0, -850, 20};
    ASSERT_TRUE(first.write(true) && second.write(true));
    EXPECT_TRUE(has_parts(file_));
    auto const merged = merge_trace(file_, 1);
    EXPECT_EQ(merged.error, "");
    EXPECT_EQ(merged.ranks, (std::vector{0, 1}));
    EXPECT_TRUE(merged.cut_off.empty());
    EXPECT_EQ(merged.clock_error, 20);
    EXPECT_FALSE(fs::exists(PartsFolder::path_of(file_)));
    // The earliest moment is when rank 1 began: 0 by its clock, -850 by that of rank 0.
    EXPECT_NE(text().find("\"pid\":1,\"tid\":1000,\"ts\":0.950"), std::string::npos) << text();
    EXPECT_NE(text().find("\"pid\":2,\"tid\":1000,\"ts\":1.000"), std::string::npos) << text();
}

TEST_F(Merging, a_rank_that_was_killed_is_named) {
    Rank first(file_, 0, 1), second(file_, 1, 1);
    first.add(100);
    second.add(200);
    ASSERT_TRUE(first.write(true) && second.write());
    auto const merged = merge_trace(file_);
    EXPECT_EQ(merged.error, "");
    EXPECT_EQ(merged.cut_off, std::vector{1});
}

TEST_F(Merging, a_part_that_is_cut_off_is_read_as_far_as_it_goes) {
    Rank rank(file_, 0, 1);
    for (int i = 0; i < 6; ++i) rank.add(i);
    ASSERT_TRUE(rank.write(true));
    fs::resize_file(PartsFolder::path_of(file_) + "/0",
                    trace_ring_offset + 3 * sizeof(TraceEvent) + 7);
    EXPECT_EQ(merge_trace(file_).error, "");
    EXPECT_NE(text().find("\"operation\":2"), std::string::npos);
    EXPECT_EQ(text().find("\"operation\":4"), std::string::npos);
}

/// Where a part says that it has more events than its file has bytes, no memory is taken for them.
TEST_F(Merging, a_part_that_claims_too_much_is_read_as_far_as_it_goes) {
    Rank rank(file_, 0, 1);
    rank.add(1);
    ASSERT_TRUE(rank.write(true));
    std::uint64_t const much[] = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
    std::fstream part(PartsFolder::path_of(file_) + "/0");
    part.seekp(offsetof(TraceHeader, room));
    part.write(reinterpret_cast<char const*>(much), sizeof much);
    part.close();
    auto const read = read_part(file_);
    ASSERT_TRUE(read);
    EXPECT_LE(read->events.size(), 2U);
    EXPECT_EQ(merge_trace(file_).error, "");
}

/// Sanitizers see what goes wrong with the numbers.
TEST_F(Merging, damaged_parts_do_no_harm) {
    for (unsigned const seed : testing::FreshSeeds(300)) {
        std::minstd_rand random(seed);
        SCOPED_TRACE(seed);
        Rank rank(file_, 0, 1);
        for (int i = 0; i < 8; ++i) rank.add(i);
        ASSERT_TRUE(rank.write(true));
        std::fstream part(PartsFolder::path_of(file_) + "/0");
        for (int i = 0; i < 12; ++i) {
            // In the numbers of the header, or in the events.
            auto const begin = random() % 3 == 0 ? 16 : trace_ring_offset;
            std::uint64_t const number = std::array<std::uint64_t, 4>{
                0, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                std::uint64_t{random()} << random() % 33}[random() % 4];
            part.seekp(static_cast<std::streamoff>(begin + random() % 512));
            part.write(reinterpret_cast<char const*>(&number), 1 + random() % 8);
        }
        part.close();
        (void)merge_trace(file_);
        fs::remove_all(PartsFolder::path_of(file_));
    }
}

TEST_F(Merging, an_earlier_jobs_parts_are_not_taken) {
    Rank old(file_, 5, 1), recent(file_, 0, 2);
    ASSERT_TRUE(old.write() && recent.write(true));
    EXPECT_EQ(merge_trace(file_).ranks, std::vector{0});
    EXPECT_FALSE(fs::exists(PartsFolder::path_of(file_)));
}

TEST_F(Merging, what_is_no_part_stays) {
    Rank rank(file_, 0, 1);
    ASSERT_TRUE(rank.write(true));
    std::string const mine = PartsFolder::path_of(file_) + "/notes";
    std::ofstream(mine) << "no part";
    EXPECT_EQ(merge_trace(file_).error, "");
    EXPECT_TRUE(fs::exists(mine));
    EXPECT_TRUE(fs::exists(file_));
    EXPECT_NE(merge_trace(file_).error, "");
}

/// Somebody may keep a folder of this name, with files whose names are numbers.
TEST_F(Merging, somebody_elses_files_stay) {
    fs::create_directories(PartsFolder::path_of(file_));
    std::string const mine = PartsFolder::path_of(file_) + "/0";
    std::ofstream(mine) << "precious";
    EXPECT_NE(Rank(file_, 0, 1).why.find("is left alone"), std::string::npos);
    trace_kind.folder(file_).remove_parts();
    EXPECT_EQ(fs::file_size(mine), 8U);
    std::ofstream(file_) << "my thesis, which is no trace and is longer than the begin of one";
    EXPECT_NE(Rank(file_, 1, 1).why.find("is no trace"), std::string::npos);
}

/// A trace tells what a job does to which files.
TEST_F(Merging, nobody_else_may_read_it) {
    auto const rights = [](fs::path const& path) { return fs::status(path).permissions(); };
    auto const before = umask(0);
    Rank rank(file_, 0, 1);
    EXPECT_TRUE(rank.write(true));
    fs::path const folder = PartsFolder::path_of(file_);
    EXPECT_EQ(rights(folder), fs::perms::owner_all);
    EXPECT_EQ(rights(folder / "0"), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(merge_trace(file_, 1).error, "");
    EXPECT_EQ(rights(file_), fs::perms::owner_read | fs::perms::owner_write);
    umask(before);
}

TEST_F(Merging, no_link_is_followed) {
    std::string const victim = (folder_ / "victim").string();
    std::ofstream(victim) << "precious";
    fs::create_directories(PartsFolder::path_of(file_));
    fs::create_symlink(victim, PartsFolder::path_of(file_) + "/0");
    fs::create_hard_link(victim, PartsFolder::path_of(file_) + "/1");
    EXPECT_NE(Rank(file_, 0, 1).why, "");
    EXPECT_NE(Rank(file_, 1, 1).why, "");
    EXPECT_EQ(fs::file_size(victim), 8U);
    fs::remove_all(PartsFolder::path_of(file_));
    fs::create_directory_symlink(folder_, PartsFolder::path_of(file_));
    EXPECT_NE(Rank(file_, 2, 1).why, "");
    EXPECT_FALSE(fs::exists(folder_ / "2"));
}

TEST_F(Merging, where_the_file_cannot_be_written_the_parts_stay) {
    Rank rank(file_, 0, 1);
    rank.add(1);
    ASSERT_TRUE(rank.write(true));
    fs::create_directories(file_ + "/not-empty");
    auto const merged = merge_trace(file_);
    EXPECT_NE(merged.error.find("cannot write " + file_), std::string::npos) << merged.error;
    EXPECT_TRUE(has_parts(file_));
    fs::remove_all(file_);
    EXPECT_EQ(merge_trace(file_).error, "");
}

TEST_F(Merging, a_folder_that_is_none_and_a_full_disk_are_told) {
    std::ofstream(PartsFolder::path_of(file_)) << "a file in the way";
    EXPECT_NE(Rank(file_, 0, 1).why.find("cannot open the folder"), std::string::npos);
    fs::remove(PartsFolder::path_of(file_));
    Rank rank(file_, 0, 1);
    rank.add(1);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit const small{4096, before.rlim_max};
    auto const handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool const written = rank.write();
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT_FALSE(written);
    EXPECT_NE(rank.why.find("File too large"), std::string::npos) << rank.why;
}

TEST(RanksInWords, are_few) {
    EXPECT_EQ(ranks_in_words({3}), "rank 3");
    EXPECT_EQ(ranks_in_words({3, 4}), "ranks 3, 4");
    EXPECT_EQ(ranks_in_words({0, 1, 2, 3, 4, 5, 6, 7, 8}), "ranks 0, 1, 2, 3, 4, 5, 6, 7 ...");
}

}  // namespace
}  // namespace sluice::trace_merge_test
