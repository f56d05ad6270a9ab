// Transfers of listed segments, for the tests of storage.
#pragma once
#include "schedule/port.hpp"

#include <cstring>
#include <vector>

namespace sluice {

/// Segments from a list.
class ListTransfer final : public Transfer {
public:
    ListTransfer(Direction way, std::vector<Segment> segments)
        : Transfer(way),
          segments_(std::move(segments)) {}
    std::optional<Segment> next() override {
        if (at_ == segments_.size()) return std::nullopt;
        return segments_[at_++];
    }

private:
    std::vector<Segment> segments_;
    std::size_t at_ = 0;
};

using Buffer = std::vector<std::byte>;

inline Buffer pattern(std::size_t bytes, int seed = 1) {
    Buffer memory(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        memory[i] = static_cast<std::byte>(seed + static_cast<int>(i * 7 + (i >> 8)));
    }
    return memory;
}

/// Pieces of `piece` bytes, apart in memory, that touch in the file in groups of `touching`.
inline std::vector<Segment> pieces_of(Buffer& memory, Bytes piece, int touching) {
    std::vector<Segment> all;
    Offset at = 10;
    int in_group = 0;
    for (Bytes m = 0; m + piece <= static_cast<Bytes>(memory.size()); m += 2 * piece) {
        all.push_back({at, memory.data() + m, piece});
        at += piece;
        if (++in_group % touching == 0) at += 13;
    }
    return all;
}

/// What a write of the segments makes of the file.
inline void put(Buffer& file, std::vector<Segment> const& segments) {
    for (Segment const& s : segments) {
        auto const at = static_cast<std::size_t>(s.file_offset);
        file.resize(std::max(file.size(), at + static_cast<std::size_t>(s.length)));
        std::memcpy(file.data() + at, s.memory, static_cast<std::size_t>(s.length));
    }
}

inline Buffer expected_file(std::vector<Segment> const& segments) {
    Buffer file;
    put(file, segments);
    return file;
}

inline Bytes total_of(std::vector<Segment> const& segments) {
    Bytes total = 0;
    for (Segment const& s : segments) total += s.length;
    return total;
}

}  // namespace sluice
