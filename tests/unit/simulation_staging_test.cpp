// The shipped operations on simulated nodes that have memory for a few collective buffers: several
// operations under way, more aggregators than buffers, up to 1,024 of them, failing storage. The
// oracle is a serial byte model of the file. A failure names its seed.
#include "sanitizers.hpp"
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

namespace sluice::simulation_staging_test {
namespace {

using namespace testing;

/// Operations of one file, which do not overlap.
struct Program {
    Program(World& its_world, Rank ranks) : world(its_world), rank_count(ranks) {}

    void add(std::vector<Part> parts, Hints const& hints) {
        Offset end = next_;
        for (auto& part : parts) {
            part.request.view.displacement += next_;
            end = std::max(end, span_of(part.request).end);
            model_write(expected, part);
        }
        next_ = end;
        all.push_back({std::move(parts), hints});
    }
    void call(Direction way) {
        operations.clear();
        for (auto& [parts, hints] : all) {
            for (Rank r = 0; r < rank_count; ++r) {
                Part& part = parts[static_cast<std::size_t>(r)];
                part.request.direction = way;
                if (way == Direction::read)
                    std::fill(part.memory.begin(), part.memory.end(), std::byte{0});
                Call call = call_of(part, Strategy::two_phase);
                Strategy const both = call.hints.write;
                call.hints = hints;
                call.hints.write = call.hints.read = both;
                operations.push_back(world.call(r, 0, std::move(call)));
            }
        }
    }
    void expect_file() const {
        auto written = world.file(0).bytes;
        written.resize(expected.size());
        auto const [differs, model] =
            std::mismatch(written.begin(), written.end(), expected.begin());
        ASSERT_EQ(differs, written.end()) << "file offset " << differs - written.begin();
    }
    void expect_memory() const {
        for (auto const& [parts, hints] : all) {
            for (std::size_t r = 0; r < parts.size(); ++r) {
                for (std::size_t i = 0; i < parts[r].memory.size(); ++i) {
                    ASSERT_EQ(parts[r].memory[i],
                              value_of(static_cast<Rank>(r), static_cast<Bytes>(i)))
                        << "rank " << r << " byte " << i;
                }
            }
        }
    }
    void expect_given_back() const {
        for (Node node = 0; node < world.topology().node_count(); ++node)
            ASSERT_EQ(world.cb_buffers_in_use(0, node), 0) << "node " << node;
    }
    /// All of it, in both ways.
    void run() {
        call(Direction::write);
        ASSERT_EQ(world.run(), "");
        for (auto const& o : operations) ASSERT_EQ(o->status(), Status::ok);
        expect_file();
        expect_given_back();
        call(Direction::read);
        ASSERT_EQ(world.run(), "");
        for (auto const& o : operations) ASSERT_EQ(o->status(), Status::ok);
        expect_memory();
        expect_given_back();
    }

    World& world;
    Rank rank_count;
    std::vector<std::pair<std::vector<Part>, Hints>> all;
    std::vector<std::byte> expected;
    std::vector<std::shared_ptr<Operation>> operations;

private:
    Offset next_ = 0;
};

std::vector<Part> interleaved_parts(Rank ranks, Bytes piece, Bytes rows) {
    std::vector<Part> parts;
    for (Rank r = 0; r < ranks; ++r) {
        Part part{interleaved(r, ranks, piece, rows, 0), {}};
        for (Bytes i = 0; i < part.request.bytes; ++i) part.memory.push_back(value_of(r, i));
        parts.push_back(std::move(part));
    }
    return parts;
}

TEST(SimulationStaging, EveryByteWhereNodesRunShort) {
    constexpr Kernel kernels[] = {Kernel::even, Kernel::ascending, Kernel::pairwise,
                                  Kernel::spread_out, Kernel::balanced};
    for (unsigned const seed : testing::FreshSeeds(cases_of(60U))) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Rank const ranks = 12, per_node = static_cast<Rank>(1 + seed % 5);
        World world({.rank_count = ranks,
                     .ranks_per_node = per_node,
                     .cb_buffer_bytes = 4096,
                     .aggregators = ranks,
                     .cb_buffers = static_cast<std::int32_t>(seed / 5 % 4)},
                    seed);
        world.file(0).short_counts = seed % 2 == 0;
        Program program(world, ranks);
        for (unsigned k = 0; k < 6; ++k) {
            Hints hints;
            hints.aggregator_count = static_cast<std::int32_t>(1 + (seed + 5 * k) % 12);
            hints.data.kernel = kernels[(seed / 2 + (k < 3 ? 0 : k)) % 5];
            hints.data.layers = (seed / 3 + k) % 2 == 0 ? Layers::two : Layers::one;
            hints.data.throttle = {static_cast<std::int32_t>(seed / 7 % 3), 0};
            if ((seed + k) % 7 == 0) hints.domains = Domains::groups;
            if ((seed + k) % 3 == 0)
                program.add(interleaved_parts(ranks, 512, 32), hints);
            else
                program.add(parts_of(world, ranks, static_cast<int>(seed + k) % 3), hints);
        }
        program.run();
        if (HasFatalFailure()) return;
    }
}

/// All ranks hear of the error, nobody waits for ever, and the next operations are as if nothing
/// had been.
TEST(SimulationStaging, StorageFailsWhereNodesRunShort) {
    for (unsigned const seed : testing::FreshSeeds(cases_of(15U))) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world({.rank_count = 32,
                     .ranks_per_node = 4,
                     .cb_buffer_bytes = 4096,
                     .aggregators = 32,
                     .cb_buffers = static_cast<std::int32_t>(seed % 3)},
                    seed);
        Program program(world, 32);
        Hints hints;
        hints.aggregator_count = 32;
        program.add(interleaved_parts(32, 128, 64), hints);
        auto& file = world.file(0);
        file.fail_at = static_cast<std::int64_t>(seed * 3 % 60);
        file.fail_forever = seed % 2 == 0;
        program.call(Direction::write);
        ASSERT_EQ(world.run(), "");
        for (auto const& o : program.operations) ASSERT_EQ(o->status(), Status::no_space);
        program.expect_given_back();
        file.fail_at = -1;
        program.run();
        if (HasFatalFailure()) return;
    }
}

/// Two nodes hold few buffers for rounds of many aggregators, and each waits for the other: the
/// ranks of a node take part in the same rounds at very different times.
TEST(SimulationStaging, SeveralOperationsShareOneBuffer) {
    for (unsigned const seed : testing::FreshSeeds(8)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world({.rank_count = 8,
                     .ranks_per_node = 2,
                     .cb_buffer_bytes = 4096,
                     .aggregators = 8,
                     .delay_seconds = 1,
                     .cb_buffers = 0},
                    seed);
        Program program(world, 8);
        Hints hints;
        hints.aggregator_count = 8;
        for (int k = 0; k < 10; ++k) program.add(interleaved_parts(8, 256, 48), hints);
        program.run();
        if (HasFatalFailure()) return;
        for (Node node = 0; node < 4; ++node) ASSERT_EQ(world.cb_buffers_made(0, node), 0);
    }
}

/// Each window is of two nodes; memory is there for all, and nodes make few.
TEST(SimulationStaging, AThousandAggregatorsMakeWhatTheyUse) {
    SKIP_WITH_SANITIZERS();
    World world(
        {.rank_count = 1024, .ranks_per_node = 32, .cb_buffer_bytes = 4096, .aggregators = 1024},
        7);
    Program program(world, 1024);
    Hints hints;
    hints.aggregator_count = 1024;
    program.add(interleaved_parts(1024, 64, 256), hints);
    program.run();
    ASSERT_EQ(program.operations.front()->plan().aggregator_count(), 1024);
    for (Node node = 0; node < 32; ++node) ASSERT_LT(world.cb_buffers_made(0, node), 256);
}

/// Each window is of all nodes, which have memory for three of 512 that could be under way.
TEST(SimulationStaging, ManyAggregatorsShareThreeBuffersANode) {
    SKIP_WITH_SANITIZERS();
    World world({.rank_count = 128,
                 .ranks_per_node = 8,
                 .cb_buffer_bytes = 4096,
                 .aggregators = 128,
                 .cb_buffers = 3},
                11);
    world.file(0).short_counts = true;
    Program program(world, 128);
    Hints hints;
    hints.aggregator_count = 128;
    program.add(interleaved_parts(128, 4, 1024), hints);
    program.run();
    ASSERT_EQ(program.operations.front()->plan().aggregator_count(), 128);
    for (Node node = 0; node < 16; ++node) ASSERT_EQ(world.cb_buffers_made(0, node), 3);
}

/// Windows of 1 MiB with the memory that a node has by default. The file is empty, so that the
/// machine that simulates needs no memory for it.
TEST(SimulationStaging, AThousandAggregatorsHaveWindowsOfAMebibyte) {
    SKIP_WITH_SANITIZERS();
    constexpr Bytes window = Bytes{1} << 20, memory = Bytes{256} << 20;
    ASSERT_EQ(cb_buffer_bytes_within(memory, cb_buffers_needed(1024), window), window);
    auto const buffers = static_cast<std::int32_t>(cb_buffers_within(memory, 1024, window));
    World world({.rank_count = 1024,
                 .ranks_per_node = 64,
                 .cb_buffer_bytes = window,
                 .aggregators = 1024,
                 .cb_buffers = buffers - 1},
                13);
    Program program(world, 1024);
    Hints hints;
    hints.aggregator_count = 1024;
    hints.window_bytes = window;
    std::vector<Part> parts;
    for (Rank r = 0; r < 1024; ++r) {
        Part part;
        part.request.view.filetype = std::make_shared<Layout const>(
            std::vector<sluice::Run>{{r * 1024, 16, 0, 1}}, 64 * window);
        part.request.bytes = 16 * 16;  // Every 64th window, and so that windows of all nodes are.
        part.request.view.displacement = r % 64 * window;
        part.memory.resize(256);
        parts.push_back(std::move(part));
    }
    program.all.push_back({std::move(parts), hints});
    program.call(Direction::read);
    ASSERT_EQ(world.run(), "");
    for (auto const& o : program.operations) {
        ASSERT_EQ(o->status(), Status::ok);
        ASSERT_EQ(o->bytes(), 0);
    }
    Plan const& plan = program.operations.front()->plan();
    ASSERT_EQ(plan.aggregator_count(), 1024);
    ASSERT_EQ(plan.window_bytes, window);
    program.expect_given_back();
}

}  // namespace
}  // namespace sluice::simulation_staging_test
