// All patterns through the page cache and past it: from the ranks' memory and from windows, into a
// file that holds something already, and back. The file is the same byte for byte.
#include "bench/patterns/pattern.hpp"
#include "file/run/transfers.hpp"
#include "posix_files.hpp"

#include <gtest/gtest.h>

namespace sluice::engine_patterns_test {
namespace {

constexpr Rank ranks = 4;
constexpr Bytes window_bytes = 64 * 1024;

patterns::PatternSpec spec_of(std::string const& name) {
    patterns::PatternSpec spec;
    spec.name = name;
    spec.element_bytes = patterns::word_bytes;
    spec.bytes = 200'000;
    spec.piece_bytes = 1000;
    spec.decomposition =
        std::string("7 0 4 2\n7 0 12 1\n7 1 6 2\n7 1 9 3\n7 2 0 4\n7 2 8 1\n7 2 13 4\n");
    spec.decomposition_number = 7;
    return spec;
}

/// One collective call of all ranks, and the file behind it.
class Access {
public:
    Access(std::string const& name, Offset displacement) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            requests_.push_back(
                patterns::make_request(spec_of(name), rank, ranks, Direction::write));
            requests_.back().view.displacement += displacement;
            auto const bytes = static_cast<std::size_t>(requests_.back().bytes);
            memories_.push_back(pattern(bytes, 40 * (rank + 1)));
            span_end_ = std::max(span_end_, span_of(requests_.back()).end);
        }
        before_ = pattern(static_cast<std::size_t>(span_end_ * 2 / 3), 5);
        after_ = before_;
        for (Segment const& piece : pieces()) conformance::write_model(after_, {piece});
    }

    [[nodiscard]] Buffer const& before() const { return before_; }
    [[nodiscard]] Buffer const& after() const { return after_; }
    [[nodiscard]] Offset end() const { return span_end_; }

    /// Of one rank, with its bytes or for them.
    [[nodiscard]] std::unique_ptr<Transfer> transfer(Rank rank, Direction way, Buffer& memory) {
        auto const r = static_cast<std::size_t>(rank);
        Request request = requests_[r];
        request.direction = way;
        if (memory.empty()) memory = way == Direction::write ? memories_[r] : Buffer(size(r));
        return std::make_unique<UserTransfer>(request, memory.data());
    }
    [[nodiscard]] Buffer const& expected(Rank rank) const {
        return memories_[static_cast<std::size_t>(rank)];
    }
    /// Of all ranks.
    [[nodiscard]] std::vector<Segment> pieces() {
        std::vector<Segment> all;
        for (Rank rank = 0; rank < ranks; ++rank) {
            auto const r = static_cast<std::size_t>(rank);
            UserTransfer walk(requests_[r], memories_[r].data());
            while (auto const piece = walk.next()) all.push_back(*piece);
        }
        return all;
    }

private:
    [[nodiscard]] std::size_t size(std::size_t rank) const { return memories_[rank].size(); }

    std::vector<Request> requests_;
    std::vector<Buffer> memories_;
    Buffer before_, after_;
    Offset span_end_ = 0;
};

class EnginePatterns : public ::testing::TestWithParam<PageCache> {
protected:
    void SetUp() override {}
    std::unique_ptr<PosixFile> open_file(Buffer const& content) {
        path_ = conformance::make_file(folder_.path() + "/file", content);
        return std::make_unique<PosixFile>(path_, AccessMode::both, parts_.way(),
                                           doorbell_.ringer());
    }
    void finish(Transfer& transfer) {
        doorbell_.wait_for(transfer);
        EXPECT_EQ(transfer.status(), Status::ok);
    }

    TestFolder folder_;
    std::string path_;
    conformance::Doorbell doorbell_;
    FileParts parts_{GetParam()};
};

/// All ranks at once, each its own pieces; then back.
void all_ranks(Access& access, PosixFile& file, Direction way,
               std::function<void(Transfer&)> const& finish) {
    std::vector<Buffer> memories(ranks);
    std::vector<std::unique_ptr<Transfer>> all;
    for (Rank rank = 0; rank < ranks; ++rank) {
        all.push_back(access.transfer(rank, way, memories[static_cast<std::size_t>(rank)]));
        file.start(*all.back());
    }
    for (auto const& each : all) finish(*each);
    for (Rank rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(memories[static_cast<std::size_t>(rank)] == access.expected(rank)) << rank;
    }
}

TEST_P(EnginePatterns, give_the_same_file) {
    for (auto const& name : patterns::pattern_names()) {
        for (Offset const displacement : {Offset{0}, Offset{1000}}) {
            SCOPED_TRACE(name + " at " + std::to_string(displacement));
            ASSERT_EQ(patterns::why_not(spec_of(name), ranks), "");
            Access access(name, displacement);
            auto const file = open_file(access.before());
            auto const finished = [this](Transfer& transfer) { finish(transfer); };
            all_ranks(access, *file, Direction::write, finished);
            EXPECT_TRUE(conformance::content_of(path_) == access.after());
            all_ranks(access, *file, Direction::read, finished);
        }
    }
}

/// The collective buffers of one aggregator, as a rank maps them.
struct CbBuffers {
    CbBuffers() : memory(SharedRegion::bytes_needed(shape)), region(memory.data(), shape) {
        std::memset(memory.data(), 0, SharedRegion::bytes_needed(shape));
    }
    RegionShape shape{.local_count = 1, .aggregator_count = 1, .cb_buffer_bytes_max = window_bytes};
    conformance::Place memory;
    SharedRegion region;
};

/// Puts the pieces that lie in the window into a collective buffer, as the ranks do.
CbBuffer filled(CbBuffers& cb_buffers, std::int64_t round, Span window,
                std::vector<Segment> const& pieces) {
    cb_buffers.region.cb_buffer_of(0, round) = static_cast<std::int32_t>(round + 1);
    CbBuffer cb_buffer =
        cb_buffers.region.cb_buffer(0, round, window.bytes(), patterns::word_bytes);
    cb_buffer.coverage.clear();
    std::memset(cb_buffer.data, 0xee, static_cast<std::size_t>(window.bytes()));
    for (Segment const& piece : pieces) {
        Span const part = clip(window, {piece.file_offset, piece.file_offset + piece.length});
        if (part.empty()) continue;
        Offset const at = part.begin - window.begin;
        cb_buffer.coverage.mark(Run{at, part.bytes(), 0, 1});
        std::memcpy(cb_buffer.data + at, piece.memory + (part.begin - piece.file_offset),
                    static_cast<std::size_t>(part.bytes()));
    }
    return cb_buffer;
}

TEST_P(EnginePatterns, windows_give_the_same_file_and_need_no_bounce) {
    bool const direct_io = GetParam() == PageCache::direct_io;
    for (auto const& name : patterns::pattern_names()) {
        SCOPED_TRACE(name);
        Access access(name, 1000);
        auto const file = open_file(access.before());
        auto const pieces = access.pieces();
        CbBuffers cb_buffers;
        std::int64_t round = 0;
        for (Offset at = 0; at < access.end(); at += window_bytes) {
            Span const span{at, std::min(at + window_bytes, access.end())};
            CbBuffer const cb_buffer = filled(cb_buffers, round++ % 4, span, pieces);
            CbBufferTransfer write(Direction::write, cb_buffer, Window(span), 0);
            file->start(write);
            finish(write);
        }
        EXPECT_TRUE(conformance::content_of(path_) == access.after());
        auto const tally = file->direct_io_tally();
        EXPECT_EQ(tally.bounced, 0) << "windows begin at pages, in memory as in the file";
        bool const granted = tally.direct + tally.cached > 0;
        EXPECT_TRUE(direct_io || !granted);
        if (granted && name == "strided") {
            EXPECT_GT(tally.direct, 0);
            EXPECT_LE(tally.cached, 2) << "the first and the last page of the span";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(all, EnginePatterns, ::testing::ValuesIn(page_caches),
                         [](auto const& of) { return name_of(of.param); });

}  // namespace
}  // namespace sluice::engine_patterns_test
