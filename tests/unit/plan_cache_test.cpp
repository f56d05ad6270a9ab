// Reuse of plans: repeated operations at other offsets, with pointers that moved unequally, with
// ranks that want nothing now and then. Whether or not a plan is reused, the bytes are right.
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::plan_cache_test {
namespace {

using namespace testing;

constexpr Rank ranks = 4;
constexpr Bytes piece = 256, rows = 40, tile = piece * ranks;
constexpr Offset page = 4096;

/// The same pattern again and again, on one operation queue.
class Checkpoints {
public:
    Checkpoints(Rank per_node, std::uint64_t seed) : world_({ranks, per_node, 4096, 2}, seed) {
        for (Rank r = 0; r < ranks; ++r) {
            layouts_.push_back(std::make_shared<Layout const>(
                std::vector<Run>{{r * piece, piece - 1, 0, 1}}, tile));  // A hole in each piece.
        }
    }

    /// Rank r's request, `rows` rows from `place` on.
    [[nodiscard]] Part part(Rank rank, Offset place) const {
        Part part;
        part.request.view.filetype = layouts_[static_cast<std::size_t>(rank)];
        part.request.view.displacement = place;
        part.request.bytes = (piece - 1) * rows;
        return part;
    }

    /// One collective write; returns whether all ranks reused a plan.
    bool write(std::vector<Part> parts) { return write_together({std::move(parts)}).front(); }

    /// Several at once; of each, whether its plan was reused.
    std::vector<bool> write_together(std::vector<std::vector<Part>> all) {
        std::vector<std::vector<std::shared_ptr<Operation>>> started;
        for (auto& parts : all) {
            started.emplace_back();
            for (Rank r = 0; r < ranks; ++r) {
                Part& part = parts[static_cast<std::size_t>(r)];
                for (Bytes i = 0; i < part.request.bytes; ++i) {
                    part.memory.push_back(value_of(r, i + ++drawn_));
                }
                model_write(expected_, part);
                started.back().push_back(world_.call(r, 0, call_of(part, Strategy::automatic)));
            }
        }
        EXPECT_EQ(world_.run(), "");
        std::vector<bool> reused;
        for (auto const& operations : started) {
            reused.push_back(operations.front()->reused_plan());
            for (auto const& operation : operations) {
                EXPECT_EQ(operation->status(), Status::ok);
                EXPECT_EQ(operation->reused_plan(), reused.back()) << "ranks disagree";
            }
        }
        auto file = world_.file(0).bytes;
        file.resize(expected_.size());
        EXPECT_TRUE(file == expected_);
        return reused;
    }

    [[nodiscard]] std::vector<Part> parts(Offset place) const {
        std::vector<Part> all;
        for (Rank r = 0; r < ranks; ++r) all.push_back(part(r, place));
        return all;
    }
    simulated::Time& time() { return world_.time(); }

private:
    World world_;
    std::vector<std::shared_ptr<Layout const>> layouts_;
    std::vector<std::byte> expected_;
    std::int64_t drawn_ = 0;
};

class PlanReuse : public ::testing::TestWithParam<Rank> {};

TEST_P(PlanReuse, AppendingHits) {
    Checkpoints c(GetParam(), 1);
    EXPECT_FALSE(c.write(c.parts(0)));
    for (Offset step = 1; step < 5; ++step) EXPECT_TRUE(c.write(c.parts(step * rows * tile)));
}

TEST_P(PlanReuse, TheFilePointerMayMoveInsteadOfTheView) {
    Checkpoints c(GetParam(), 2);
    EXPECT_FALSE(c.write(c.parts(0)));
    auto parts = c.parts(0);
    for (Part& part : parts) part.request.position = (piece - 1) * rows;
    EXPECT_TRUE(c.write(std::move(parts)));
}

TEST_P(PlanReuse, BordersThatDoNotMoveAlongAreAnotherPlan) {
    Checkpoints c(GetParam(), 3);
    EXPECT_FALSE(c.write(c.parts(0)));
    EXPECT_FALSE(c.write(c.parts(rows * tile + page / 2)));
}

TEST_P(PlanReuse, UnequalPointersNeverHit) {
    Checkpoints c(GetParam(), 4);
    EXPECT_FALSE(c.write(c.parts(0)));
    for (Rank moved = 0; moved < ranks; ++moved) {
        auto parts = c.parts(4 * rows * tile * (moved + 1));
        parts[static_cast<std::size_t>(moved)].request.position = (piece - 1) * page / tile;
        EXPECT_FALSE(c.write(std::move(parts)));
    }
}

TEST_P(PlanReuse, AnotherLengthIsAnotherPlan) {
    Checkpoints c(GetParam(), 5);
    EXPECT_FALSE(c.write(c.parts(0)));
    auto parts = c.parts(rows * tile);
    parts[2].request.bytes -= piece - 1;
    EXPECT_FALSE(c.write(std::move(parts)));
}

/// Old ones are dropped, and those in use are not.
TEST_P(PlanReuse, TheNumberOfPlansIsBounded) {
    Checkpoints c(GetParam(), 6);
    auto const of_rows = [&](Bytes count, Offset place) {
        auto parts = c.parts(place);
        for (Part& part : parts) part.request.bytes = (piece - 1) * count;
        return parts;
    };
    Offset const step = rows * tile;
    EXPECT_FALSE(c.write(of_rows(2, 0)));  // One piece alone would go straight to the file.
    for (Bytes count = 3; count < 40; ++count) {
        EXPECT_FALSE(c.write(of_rows(count, count * step)));
        EXPECT_TRUE(c.write(of_rows(2, (count + 40) * step))) << count;
    }
    EXPECT_FALSE(c.write(of_rows(3, 90 * step)));
}

/// Anything at once, in drawn order: ranks must agree, and the bytes must be right.
TEST_P(PlanReuse, DrawnOperations) {
    int hits = 0;
    for (std::uint64_t seed = 10; seed < 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Checkpoints c(GetParam(), seed);
        Offset place = 0;
        for (int batch = 0; batch < 4; ++batch) {
            std::vector<std::vector<Part>> all;
            for (std::uint64_t k = 0; k <= c.time().draw(5); ++k, place += 4 * rows * tile) {
                all.push_back(c.parts(place + (c.time().draw(4) == 0 ? 1000 : 0)));
                for (Part& part : all.back()) {
                    if (c.time().draw(10) == 0) part.request.bytes = 0;
                    if (c.time().draw(10) == 0) part.request.position = (piece - 1) * 4;
                }
            }
            for (bool const reused : c.write_together(std::move(all))) hits += reused ? 1 : 0;
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(hits, 10);
}

INSTANTIATE_TEST_SUITE_P(RanksANode, PlanReuse, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace sluice::plan_cache_test
