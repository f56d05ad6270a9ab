// A serial model of a file: what every rank writes is a pure function of (seed, rank, operation),
// so that any rank can compute the whole file that must result, and compare it byte by byte.
#pragma once
#include "layout.hpp"

#include "tests/placed_random.hpp"

#include <cstring>
#include <span>

namespace model {

using Bytes = std::vector<unsigned char>;

/// Memory that no operation may touch (gaps of memory types) holds this before and after.
inline constexpr unsigned char untouched = 0xA5;

/// Bytes [first, first + count) of the endless stream that `seed` names.
inline Bytes stream(std::uint64_t seed, std::int64_t first, std::int64_t count) {
    Bytes result(static_cast<std::size_t>(count));
    std::uint64_t word = 0;
    std::uint64_t const base = mix(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        auto const at = static_cast<std::uint64_t>(first + i);
        if (i == 0 || at % 8 == 0) word = mix(base + at / 8);
        result[static_cast<std::size_t>(i)] = static_cast<unsigned char>(word >> (8 * (at % 8)));
    }
    return result;
}

/// What rank `rank` transfers in operation `op`: its data in the order of the request.
inline Bytes data_of(std::uint64_t seed, int rank, int op, std::int64_t count) {
    auto const name = mix(seed) + mix(static_cast<std::uint64_t>(rank) * 4096U +
                                      static_cast<std::uint64_t>(op) + 1U);
    return stream(name, 0, count);
}

/// What the file holds before a test.
inline Bytes prefill(std::int64_t first, std::int64_t count) { return stream(77, first, count); }

/// Bytes [first, first + bytes) of the data of endless copies of `tile`, as places from `origin`.
inline Blocks places(Layout const& tile, std::int64_t origin, std::int64_t first,
                     std::int64_t bytes) {
    Blocks result;
    std::int64_t const tile_bytes = tile.size();
    if (tile_bytes == 0 || bytes == 0) return result;
    if (tile.blocks.size() == 1 && tile_bytes == tile.extent()) {
        return {{origin + tile.blocks[0].offset + first, bytes}};
    }
    std::int64_t skip = first % tile_bytes;
    for (std::int64_t copy = first / tile_bytes; bytes > 0; ++copy) {
        for (auto const& block : tile.blocks) {
            std::int64_t const passed = std::min(skip, block.bytes);
            std::int64_t const taken = std::min(block.bytes - passed, bytes);
            append(result, origin + copy * tile.extent() + block.offset + passed, taken);
            skip -= passed;
            bytes -= taken;
        }
    }
    return result;
}

struct View {
    std::int64_t displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    Layout filetype = element(MPI_BYTE);
};

/// What one rank asks of one collective call.
struct Request {
    View view;
    std::int64_t offset = 0;  ///< In etypes of the view.
    Layout memory = element(MPI_BYTE);
    int count = 0;  ///< Of memory types.

    std::int64_t bytes() const { return memory.size() * count; }
    std::int64_t etype_bytes() const { return element(view.etype).size(); }
    Blocks in_file() const {
        return places(view.filetype, view.displacement, offset * etype_bytes(), bytes());
    }
    Blocks in_memory() const { return places(memory, 0, 0, bytes()); }
    /// The individual pointer, in etypes, once `transferred` bytes have been asked for.
    std::int64_t position_after() const { return offset + bytes() / etype_bytes(); }
};

inline std::int64_t end_of(Blocks const& blocks) {
    std::int64_t end = 0;
    for (auto const& block : blocks) end = std::max(end, block.offset + block.bytes);
    return end;
}

/// Lays a stream out in memory; what the blocks do not cover is `untouched`.
inline Bytes scattered(Blocks const& blocks, Bytes const& data, std::int64_t valid_bytes) {
    Bytes memory(static_cast<std::size_t>(end_of(blocks)), untouched);
    std::int64_t done = 0;
    for (auto const& block : blocks) {
        std::int64_t const part = std::min(block.bytes, valid_bytes - done);
        if (part <= 0) break;
        std::memcpy(memory.data() + block.offset, data.data() + done,
                    static_cast<std::size_t>(part));
        done += part;
    }
    return memory;
}

inline Bytes scattered(Blocks const& blocks, Bytes const& data) {
    return scattered(blocks, data, static_cast<std::int64_t>(data.size()));
}

/// Marks the places of all data from byte `valid_bytes` of the stream on as untouched.
inline void blank_after(Blocks const& blocks, std::int64_t valid_bytes, Bytes& memory) {
    for (auto const& block : blocks) {
        std::int64_t const kept = std::clamp<std::int64_t>(valid_bytes, 0, block.bytes);
        std::fill(memory.begin() + block.offset + kept, memory.begin() + block.offset + block.bytes,
                  untouched);
        valid_bytes -= block.bytes;
    }
}

/// The whole file, in memory.
class File {
public:
    File() = default;
    explicit File(std::int64_t prefilled_bytes)
        : bytes_(prefill(0, prefilled_bytes)),
          known_(bytes_.size(), true) {}

    void write(Blocks const& blocks, Bytes const& data) {
        auto const end = static_cast<std::size_t>(end_of(blocks));
        if (end > bytes_.size()) {
            bytes_.resize(end, 0);
            known_.resize(end, false);
        }
        std::int64_t done = 0;
        for (auto const& block : blocks) {
            std::memcpy(bytes_.data() + block.offset, data.data() + done,
                        static_cast<std::size_t>(block.bytes));
            done += block.bytes;
            auto const first = known_.begin() + block.offset;
            std::fill(first, first + block.bytes, true);
        }
    }

    /// What a read of these places delivers: it stops at the end of the file.
    Bytes read(Blocks const& blocks) const {
        Bytes result;
        auto const size = static_cast<std::int64_t>(bytes_.size());
        for (auto const& block : blocks) {
            auto const part = std::min(block.bytes, size - block.offset);
            if (part <= 0) continue;
            auto const from = bytes_.begin() + block.offset;
            result.insert(result.end(), from, from + part);
        }
        return result;
    }

    std::span<unsigned char const> bytes() const { return bytes_; }
    std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

    /// As POSIX does: what is new is zero, and known to be.
    void resize(std::int64_t size) {
        bytes_.resize(static_cast<std::size_t>(size), 0);
        known_.resize(static_cast<std::size_t>(size), true);
    }

    /// Holes behind the old end of the file, that nobody wrote, are zero with POSIX and Sluice.
    /// MPI does not say so, and MPICH leaves there what it found in its memory: takes those bytes
    /// from `found`.
    void forgive_holes(std::span<unsigned char const> found) {
        for (std::size_t i = 0; i < std::min(found.size(), bytes_.size()); ++i) {
            if (!known_[i]) bytes_[i] = found[i];
        }
    }

private:
    Bytes bytes_;
    std::vector<bool> known_;  ///< Prefilled or written.
};

}  // namespace model
