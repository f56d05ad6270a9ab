// Property tests of coverages against one bool a granule: marking, searching, encoding, damage,
// and marking from several threads at once.
#include "file/plan/coverage.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <thread>

namespace sluice::coverage_test {
namespace {

constexpr std::uint64_t guard_word = 0x5a5a5a5a5a5a5a5a;

/// A coverage and its words, with a word behind them that nobody may touch.
class Sheet {
public:
    Sheet(Bytes window_bytes, Bytes granule_bytes)
        : words_(Coverage::words_for(window_bytes, granule_bytes) + 1),
          coverage_(std::span(words_).first(words_.size() - 1), granule_bytes, window_bytes) {
        words_.back() = guard_word;
    }
    Coverage& operator*() noexcept { return coverage_; }
    Coverage* operator->() noexcept { return &coverage_; }
    [[nodiscard]] bool guard_is_whole() const noexcept { return words_.back() == guard_word; }
    void set_all_words() noexcept {
        std::fill(words_.begin(), words_.end() - 1, ~std::uint64_t{0});
    }

private:
    std::vector<std::uint64_t> words_;
    Coverage coverage_;
};

/// One bool a granule: the oracle.
using Model = std::vector<bool>;

void mark_model(Model& model, Run const& run, Bytes granule_bytes) {
    for (std::int64_t i = 0; i < run.count; ++i) {
        Offset const begin = (run.offset + i * run.stride) / granule_bytes;
        for (Offset g = begin; g < begin + run.length / granule_bytes; ++g) {
            model[static_cast<std::size_t>(g)] = true;
        }
    }
}

Model model_of(Coverage const& coverage) {
    Bytes const granule = coverage.granule_bytes();
    Model model(static_cast<std::size_t>(coverage.window_bytes() / granule));
    for (auto s = coverage.next(0); s; s = coverage.next(s->end)) {
        mark_model(model, {s->begin, s->bytes(), 0, 1}, granule);
    }
    return model;
}

/// A run of whole granules that lies in a window of `granules`.
Run draw_run(std::int64_t granules, Bytes granule_bytes) {
    auto const length = *rc::gen::inRange<std::int64_t>(1, granules + 1);
    auto const begin = *rc::gen::inRange<std::int64_t>(0, granules - length + 1);
    auto const stride = length + *rc::gen::inRange<std::int64_t>(0, 70);
    auto const most = 1 + (granules - begin - length) / stride;
    auto const count = *rc::gen::inRange<std::int64_t>(1, most + 1);
    return {begin * granule_bytes, length * granule_bytes, stride * granule_bytes, count};
}

/// Short pieces are the common case; long ones must not crowd them out.
Run draw_small_run(std::int64_t granules, Bytes granule_bytes) {
    auto const length = *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(9, granules + 1));
    auto const begin = *rc::gen::inRange<std::int64_t>(0, granules - length + 1);
    auto const stride = length + *rc::gen::inRange<std::int64_t>(0, 12);
    auto const count = 1 + (granules - begin - length) / stride;
    return {begin * granule_bytes, length * granule_bytes, stride * granule_bytes, count};
}

struct Drawn {
    std::int64_t granules = *rc::gen::inRange<std::int64_t>(1, 400);
    Bytes granule_bytes = Bytes{1} << *rc::gen::inRange(0, 13);
    Sheet sheet{granules * granule_bytes, granule_bytes};
    Model model = Model(static_cast<std::size_t>(granules));

    Drawn() {
        int const runs = *rc::gen::inRange(0, 6);
        for (int i = 0; i < runs; ++i) {
            Run const run = *rc::gen::arbitrary<bool>() ? draw_run(granules, granule_bytes)
                                                        : draw_small_run(granules, granule_bytes);
            sheet->mark(run);
            mark_model(model, run, granule_bytes);
        }
    }
    [[nodiscard]] Bytes window_bytes() const noexcept { return granules * granule_bytes; }
};

RC_GTEST_PROP(Coverage, MarksExactlyTheGranulesOfItsRuns, ()) {
    Drawn drawn;
    RC_ASSERT(model_of(*drawn.sheet) == drawn.model);
    auto const marked = std::count(drawn.model.begin(), drawn.model.end(), true);
    RC_ASSERT(drawn.sheet->marked_bytes() == marked * drawn.granule_bytes);
    RC_ASSERT(drawn.sheet->any() == (marked > 0));
    RC_ASSERT(drawn.sheet.guard_is_whole());
}

RC_GTEST_PROP(Coverage, StretchesAreAsLongAsTheyCanBe, ()) {
    Drawn drawn;
    Offset reached = -1;
    for (auto s = drawn.sheet->next(0); s; s = drawn.sheet->next(s->end)) {
        RC_ASSERT(!s->empty());
        RC_ASSERT(s->begin > reached);  // Touching stretches are one.
        reached = s->end;
    }
}

RC_GTEST_PROP(Coverage, NextSkipsWhatLiesBefore, ()) {
    Drawn drawn;
    auto const from = *rc::gen::inRange<std::int64_t>(0, drawn.granules + 1);
    auto const first = std::find(drawn.model.begin() + from, drawn.model.end(), true);
    auto const found = drawn.sheet->next(from * drawn.granule_bytes);
    RC_ASSERT(found.has_value() == (first != drawn.model.end()));
    if (found) RC_ASSERT(found->begin == (first - drawn.model.begin()) * drawn.granule_bytes);
}

RC_GTEST_PROP(Coverage, ForEachSeesWhatNextFinds, ()) {
    Drawn drawn;
    auto const enough = *rc::gen::inRange<std::size_t>(1, 200);
    std::vector<std::pair<Offset, Offset>> expected, seen;
    for (auto s = drawn.sheet->next(0); s && expected.size() < enough;
         s = drawn.sheet->next(s->end))
        expected.emplace_back(s->begin, s->end);
    bool const saw_all = drawn.sheet->for_each([&](Span s) {
        seen.emplace_back(s.begin, s.end);
        return seen.size() < enough;
    });
    RC_ASSERT(seen == expected);
    RC_ASSERT(saw_all == (seen.size() < enough));
}

RC_GTEST_PROP(Coverage, ClearLeavesNothing, ()) {
    Drawn drawn;
    drawn.sheet->clear();
    RC_ASSERT(!drawn.sheet->any());
    RC_ASSERT(drawn.sheet.guard_is_whole());
}

RC_GTEST_PROP(Coverage, EncodedAndDecodedItIsTheSame, ()) {
    Drawn drawn;
    ByteBuffer message(*rc::gen::inRange<std::size_t>(0, 5), std::byte{7});
    std::size_t const before = message.size();
    drawn.sheet->encode(message);
    std::size_t const length = message.size() - before;
    RC_ASSERT(length <= Coverage::encoded_bytes_max(drawn.window_bytes(), drawn.granule_bytes));
    message.resize(message.size() + 9, std::byte{0xff});  // The data follows.

    Sheet other(drawn.window_bytes(), drawn.granule_bytes);
    auto const used = other->decode_and_mark(std::span(message).subspan(before));
    RC_ASSERT(used.has_value());
    RC_ASSERT(*used == length);
    RC_ASSERT(model_of(*other) == drawn.model);
    RC_ASSERT(other.guard_is_whole());
}

RC_GTEST_PROP(Coverage, DecodingAddsToWhatIsMarked, ()) {
    Drawn drawn;
    Run const more = draw_small_run(drawn.granules, drawn.granule_bytes);
    Sheet other(drawn.window_bytes(), drawn.granule_bytes);
    other->mark(more);
    ByteBuffer message;
    drawn.sheet->encode(message);
    RC_ASSERT(other->decode_and_mark(message).has_value());
    mark_model(drawn.model, more, drawn.granule_bytes);
    RC_ASSERT(model_of(*other) == drawn.model);
}

RC_GTEST_PROP(Coverage, CutShortItIsRefused, ()) {
    Drawn drawn;
    ByteBuffer message;
    drawn.sheet->encode(message);
    message.resize(*rc::gen::inRange<std::size_t>(0, message.size()));
    Sheet other(drawn.window_bytes(), drawn.granule_bytes);
    RC_ASSERT(!other->decode_and_mark(message).has_value());
    RC_ASSERT(other.guard_is_whole());
}

RC_GTEST_PROP(Coverage, RandomBytesMarkNothingOutside, ()) {
    auto const granules = *rc::gen::inRange<std::int64_t>(1, 300);
    auto message =
        *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
    if (!message.empty()) message[0] = *rc::gen::inRange<std::uint8_t>(0, 4);
    Sheet sheet(granules, 1);
    auto const used = sheet->decode_and_mark(std::as_bytes(std::span(message)));
    RC_ASSERT(!used || *used <= message.size());
    RC_ASSERT(sheet.guard_is_whole());
    for (auto s = sheet->next(0); s; s = sheet->next(s->end)) RC_ASSERT(s->end <= granules);
}

TEST(Coverage, StretchesBeyondTheWindowAreRefused) {
    for (std::initializer_list<int> const bytes :
         {std::initializer_list<int>{1, 101, 0, 0},
          {1, 100, 1, 0},
          {1, 1, 100, 0},
          {1, 50, 0, 50, 1, 0},
          {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0},
          {1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0}}) {
        ByteBuffer message;
        for (int const byte : bytes) message.push_back(static_cast<std::byte>(byte));
        Sheet sheet(100, 1);
        EXPECT_FALSE(sheet->decode_and_mark(message).has_value());
        EXPECT_TRUE(sheet.guard_is_whole());
    }
}

TEST(Coverage, BitsBehindTheWindowAreNeverSeen) {
    Sheet sheet(70, 1);
    sheet.set_all_words();
    EXPECT_EQ(sheet->marked_bytes(), 70);
    EXPECT_EQ(sheet->next(69), (Span{69, 70}));
    EXPECT_FALSE(sheet->next(70).has_value());
    EXPECT_TRUE(sheet->for_each([](Span s) { return s == Span{0, 70}; }));
}

TEST(Coverage, ARegularPatternIsEncodedInNoMoreThanItsWords) {
    constexpr Bytes window = 1 << 16;
    Sheet sheet(window, 1);
    sheet->mark(sluice::Run{0, 1, 2, window / 2});
    ByteBuffer message;
    sheet->encode(message);
    EXPECT_EQ(message.size(), 1 + window / 8);
}

TEST(Coverage, ThreadsMarkTheSameWords) {
    constexpr std::int64_t granules = 4099;
    constexpr int threads = 4, repeats = 20;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        Sheet sheet(granules, 1);
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([&sheet, t] {
                // Every fourth granule, once piece by piece and once as a run: overlaps do no harm.
                for (std::int64_t i = t; i < granules; i += threads)
                    sheet->mark(sluice::Run{i, 1, 0, 1});
                sheet->mark(sluice::Run{t, 1, threads, (granules - t + threads - 1) / threads});
            });
        }
        for (auto& thread : all) thread.join();
        EXPECT_EQ(sheet->marked_bytes(), granules);
        EXPECT_TRUE(sheet.guard_is_whole());
    }
}

}  // namespace
}  // namespace sluice::coverage_test
