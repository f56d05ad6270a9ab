// The shipped operations over simulated ports: many ranks, several nodes, drawn delays, faults.
// The oracle is a serial byte model of the file. A failure names its seed.
#include "simulate/world.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace sluice {
namespace {

using simulated::World;
using simulated::WorldShape;

/// What one rank wants, and the bytes it brings or expects.
struct Part {
    Request request;
    std::vector<std::byte> memory;
};

std::byte value_of(Rank rank, Bytes position) {
    return static_cast<std::byte>(1 + (rank * 131 + position * 7 + (position >> 8)) % 255);
}

/// Rank r takes piece r of each row: fully covered, interleaved.
Request interleaved(Rank rank, Rank ranks, Bytes piece, Bytes pieces, Offset displacement) {
    Request r;
    r.view.displacement = displacement;
    r.view.filetype = std::make_shared<Layout const>(std::vector<Run>{{rank * piece, piece, 0, 1}},
                                                     piece * ranks);
    r.bytes = piece * pieces;
    return r;
}

/// Drawn pieces with holes between them, each rank in the places of its own.
Request scattered(simulated::Time& time, Rank rank, Rank ranks) {
    constexpr Offset steps = 16, step = 100;
    Extents extents;
    extents.add({rank * step, 7, 0, 1});
    for (Offset i = 1; i < steps; ++i) {
        auto const length = static_cast<Bytes>(1 + time.draw(step));
        if (time.draw(3) != 0) extents.add({(i * ranks + rank) * step, length, 0, 1});
    }
    Request r;
    r.view.filetype =
        std::make_shared<Layout const>(std::move(extents).take(), steps * step * ranks);
    r.bytes = time.draw(5) == 0 ? 0 : static_cast<Bytes>(time.draw(4000));
    r.position = static_cast<Bytes>(time.draw(300));
    return r;
}

std::vector<Part> parts_of(World& world, Rank ranks, int pattern) {
    std::vector<Part> parts;
    for (Rank r = 0; r < ranks; ++r) {
        Part part;
        part.request = pattern == 0   ? interleaved(r, ranks, 64, 40, 5)
                       : pattern == 1 ? interleaved(r, ranks, 4096, 3, 0)
                                      : scattered(world.time(), r, ranks);
        for (Bytes i = 0; i < part.request.bytes; ++i) part.memory.push_back(value_of(r, i));
        parts.push_back(std::move(part));
    }
    return parts;
}

void model_write(std::vector<std::byte>& file, Part const& part) {
    Request const& r = part.request;
    for (Bytes i = 0; i < r.bytes; ++i) {
        auto const at = static_cast<std::size_t>(r.view.displacement +
                                                 r.view.filetype->offset_at(r.position + i));
        if (file.size() <= at) file.resize(at + 1);
        file[at] = part.memory[static_cast<std::size_t>(i)];
    }
}

Call call_of(Part& part, Strategy strategy) {
    Call call;
    call.request = part.request;
    call.user = part.memory.data();
    call.hints.write = call.hints.read = strategy;
    return call;
}

void write_then_read(WorldShape shape, std::uint64_t seed, int pattern, bool short_counts) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " pattern " + std::to_string(pattern) +
                 " ranks " + std::to_string(shape.rank_count) + "/" +
                 std::to_string(shape.ranks_per_node));
    World world(shape, seed);
    world.file(0).short_counts = short_counts;
    world.file(0).bytes.assign(100'000, std::byte{0});
    auto expected = world.file(0).bytes;
    std::vector<std::shared_ptr<Operation>> operations;
    std::vector<std::vector<Part>> all;
    Offset next = 0;  // Operations that are under way together must not overlap.
    for (int k = 0; k < 3; ++k) {
        all.push_back(parts_of(world, shape.rank_count, pattern));
        Offset end = next;
        for (auto& part : all.back()) {
            part.request.view.displacement += next;
            end = std::max(end, span_of(part.request).end);
            model_write(expected, part);
        }
        next = end;
    }
    for (auto& parts : all) {
        for (Rank r = 0; r < shape.rank_count; ++r) {
            operations.push_back(
                world.call(r, 0, call_of(parts[static_cast<std::size_t>(r)], Strategy::two_phase)));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (auto const& o : operations) {
        ASSERT_TRUE(o->complete());
        ASSERT_EQ(o->status(), Status::ok);
    }
    auto written = world.file(0).bytes;
    written.resize(expected.size());
    auto const [differs, model] = std::mismatch(written.begin(), written.end(), expected.begin());
    ASSERT_EQ(differs, written.end())
        << "file offset " << differs - written.begin() << ": " << static_cast<int>(*differs)
        << ", expected " << static_cast<int>(*model);

    for (auto& parts : all) {
        for (Rank r = 0; r < shape.rank_count; ++r) {
            Part& part = parts[static_cast<std::size_t>(r)];
            part.request.direction = Direction::read;
            std::fill(part.memory.begin(), part.memory.end(), std::byte{0});
            operations.push_back(world.call(r, 0, call_of(part, Strategy::two_phase)));
        }
    }
    ASSERT_EQ(world.run(), "");
    for (auto const& parts : all) {
        for (std::size_t r = 0; r < parts.size(); ++r) {
            for (std::size_t i = 0; i < parts[r].memory.size(); ++i) {
                ASSERT_EQ(parts[r].memory[i], value_of(static_cast<Rank>(r), static_cast<Bytes>(i)))
                    << "rank " << r << " byte " << i;
            }
        }
    }
}

TEST(Simulation, EveryByteOnOneAndSeveralNodes) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        for (Rank const ranks : {1, 2, 3, 5, 8}) {
            for (Rank const per_node : {1, 2, 8}) {
                for (int pattern = 0; pattern < 3; ++pattern) {
                    write_then_read({ranks, per_node, 4096, 3}, seed, pattern, seed % 2 == 0);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(Simulation, AThousandRanks) {
    write_then_read({1024, 32, 16384, 16}, 7, 0, false);
    write_then_read({1024, 32, 16384, 16}, 8, 2, false);
}

}  // namespace
}  // namespace sluice
