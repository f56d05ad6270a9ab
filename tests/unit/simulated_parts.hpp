// What simulated ranks ask for, the bytes that they bring, and the serial model of the file.
#pragma once
#include "simulate/world.hpp"

namespace sluice::testing {

using simulated::World;
using simulated::WorldShape;

/// What one rank wants, and the bytes it brings or expects.
struct Part {
    Request request;
    std::vector<std::byte> memory;
};

inline std::byte value_of(Rank rank, Bytes position) {
    return static_cast<std::byte>(1 + (rank * 131 + position * 7 + (position >> 8)) % 255);
}

/// Rank r takes piece r of each row: fully covered, interleaved.
inline Request interleaved(Rank rank, Rank ranks, Bytes piece, Bytes pieces, Offset displacement) {
    Request r;
    r.view.displacement = displacement;
    r.view.filetype = std::make_shared<Layout const>(std::vector<Run>{{rank * piece, piece, 0, 1}},
                                                     piece * ranks);
    r.bytes = piece * pieces;
    return r;
}

/// Drawn pieces with holes between them, each rank in the places of its own.
inline Request scattered(simulated::Time& time, Rank rank, Rank ranks) {
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

inline std::vector<Part> parts_of(World& world, Rank ranks, int pattern) {
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

inline void model_write(std::vector<std::byte>& file, Part const& part) {
    Request const& r = part.request;
    for (Bytes i = 0; i < r.bytes; ++i) {
        auto const at = static_cast<std::size_t>(offset_in_file(r, i));
        if (file.size() <= at) file.resize(at + 1);
        file[at] = part.memory[static_cast<std::size_t>(i)];
    }
}

/// Memory that a rank's device fills before its call may begin; until then it has other bytes.
class FilledLater {
public:
    void fill(World& world, Rank rank, std::vector<std::byte>& memory, Call& call) {
        if (memory.empty()) return;
        auto const& bytes = bytes_.emplace_back(std::make_unique<std::vector<std::byte>>(memory));
        std::ranges::fill(memory, std::byte{0xAA});
        simulated::SimulatedDevice& device = world.device(rank);
        auto const target = device.memory(memory.data()).address();
        auto const source = UserMemory(bytes->data()).address();
        call.after = device.start(Direction::read, {{target, source, std::ssize(*bytes)}});
    }

private:
    std::vector<std::unique_ptr<std::vector<std::byte>>> bytes_;  ///< As the device has them.
};

inline Call call_of(Part& part, Strategy strategy) {
    Call call;
    call.request = part.request;
    call.user = part.memory.data();
    call.hints.write = call.hints.read = strategy;
    bool const found_later = call.request.bytes % 2 == 1;
    if (found_later) {
        call.request.memory = Layout::contiguous();
        call.find_memory = [memory = part.request.memory] { return memory; };
    }
    return call;
}

}  // namespace sluice::testing
