// Byte ranges as runs and lists of pieces: the one way in which this library describes scattered
// data. Pure: values in, values out. A regular pattern of any size is one run; adjacent pieces
// merge while they are added; what has no order costs four to six bytes a piece. Next stage:
// base/layout.hpp repeats them to describe a datatype.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

using Offset =
    std::int64_t;  ///< A place in a file or in memory, in bytes; memory's may be negative.
using Bytes = std::int64_t;  ///< A length in bytes; never negative.

/// A half-open byte range of the file. Empty when end <= begin.
struct Span {
    Offset begin = 0, end = 0;
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    [[nodiscard]] constexpr Bytes bytes() const noexcept { return empty() ? 0 : end - begin; }
    bool operator==(Span const&) const = default;
};

/// The part of `a` that lies in `b`.
constexpr Span clip(Span a, Span b) noexcept {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// From the begin of the first to the end of the last; an empty one does not count.
constexpr Span join(Span a, Span b) noexcept {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// `count` pieces of `length` bytes; piece i begins at offset + i * stride.
struct Run {
    Offset offset = 0;
    Bytes length = 0;
    Offset stride = 0;  ///< May be negative or zero in memory; in a file it is >= length.
    std::int64_t count = 0;
    [[nodiscard]] constexpr Bytes bytes() const noexcept { return length * count; }
    [[nodiscard]] constexpr Offset last_begin() const noexcept {
        return offset + (count - 1) * stride;
    }
    bool operator==(Run const&) const = default;
};

/// `count` pieces in transfer order: a run, or a list with an entry for each of them.
struct Pieces {
    Offset offset = 0;
    Bytes length = 0;   ///< Of each piece; 0: they differ, see `lengths`.
    Offset stride = 0;  ///< Of a run.
    std::int64_t count = 0;
    Bytes bytes = 0;                         ///< Of all of them.
    std::int32_t const* places = nullptr;    ///< Lists: where each begins, counted from `offset`.
    std::uint16_t const* lengths = nullptr;  ///< Lists of pieces that differ in length.

    [[nodiscard]] bool is_run() const noexcept { return places == nullptr; }
    [[nodiscard]] Offset offset_of(std::int64_t piece) const noexcept {
        return offset + (is_run() ? piece * stride : places[piece]);
    }
    [[nodiscard]] Bytes length_of(std::int64_t piece) const noexcept {
        return lengths != nullptr ? lengths[piece] : length;
    }
    [[nodiscard]] Bytes bytes_before(std::int64_t piece) const noexcept;
    /// Calls `visit(Offset, Bytes)` for each piece, in a loop of its own for each shape.
    template <class Visit> void for_each(Visit&& visit) const {
        if (is_run()) {
            for (std::int64_t i = 0; i < count; ++i) visit(offset + i * stride, length);
        } else if (lengths == nullptr) {
            for (std::int64_t i = 0; i < count; ++i) visit(offset + places[i], length);
        } else {
            for (std::int64_t i = 0; i < count; ++i) visit(offset + places[i], Bytes{lengths[i]});
        }
    }
};

/// Pieces of a tile that are kept together.
struct Section : Pieces {
    Bytes before = 0;                ///< Bytes of the tile before it.
    std::int64_t pieces_before = 0;  ///< Pieces of the tile before it.
};

/// Memory for the entries of lists, in chunks that stay where they are and that copies share.
template <class T> class ListStore {
public:
    /// Room for `count` more entries.
    T* take(std::size_t count) {
        if (left_ < count) grow(count);
        left_ -= count;
        T* const room = next_;
        next_ += count;
        return room;
    }
    /// Keeps the entries of another store alive.
    void share(ListStore const& other) {
        chunks_.insert(chunks_.end(), other.chunks_.begin(), other.chunks_.end());
        entries_ += other.entries_;
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return entries_ * sizeof(T) + chunks_.capacity() * sizeof(chunks_[0]);
    }

private:
    static constexpr std::size_t entries_min = 32, entries_max = std::size_t{1} << 12;

    void grow(std::size_t count) {
        std::size_t const size = std::max(count, std::clamp(entries_, entries_min, entries_max));
        // Not make_shared_for_overwrite, which the library of g++ 11 lacks.
        chunks_.emplace_back(std::make_unique_for_overwrite<T[]>(size));
        entries_ += size;
        next_ = chunks_.back().get();
        left_ = size;
    }

    std::vector<std::shared_ptr<T[]>> chunks_;
    std::size_t entries_ = 0, left_ = 0;
    T* next_ = nullptr;
};

/// Finished extents: sections in transfer order. Copies share their lists.
class Sections {
public:
    Sections() = default;
    Sections(std::vector<Run> const& runs);  ///< What Extents makes of them.

    [[nodiscard]] std::vector<Section> const& all() const noexcept { return all_; }
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::int64_t piece_count() const noexcept { return pieces_; }
    [[nodiscard]] Bytes memory_bytes() const noexcept;

    /// Calls `visit(Run)` in transfer order; a single piece is a run of count 1.
    template <class Visit> void for_each_run(Visit&& visit) const {
        for (Section const& s : all_) {
            if (s.is_run()) {
                visit(Run{s.offset, s.length, s.stride, s.count});
            } else {
                s.for_each([&](Offset at, Bytes length) { visit(Run{at, length, 0, 1}); });
            }
        }
    }

private:
    friend class Extents;
    void append(Pieces const& pieces);

    std::vector<Section> all_;
    ListStore<std::int32_t> places_;
    ListStore<std::uint16_t> lengths_;
    Bytes bytes_ = 0;
    std::int64_t pieces_ = 0;
};

/// Collects extents in the order in which their bytes are transferred, merged as far as one look
/// back allows. Holds no more than what it makes.
class Extents {
public:
    Extents() noexcept {}  // The arrays are not touched before they are used.
    Extents(Extents const&) = delete;
    Extents& operator=(Extents const&) = delete;

    /// Appends a run; empty ones vanish. Amortised O(1).
    void add(Run const& run);

    /// Appends `times` copies of `block`, each `step` bytes after the one before, beginning at
    /// `shift`. A dense block that repeats becomes one run, not `times` pieces; the copies of long
    /// lists share their entries.
    void add_repeated(Sections const& block, Offset shift, std::int64_t times, Offset step);

    [[nodiscard]] Sections take() &&;

private:
    static constexpr std::int64_t list_pieces_max = 256;

    void add_piece(Offset offset, Bytes length);
    bool extend_last(Run const& run);
    [[nodiscard]] bool touches(Offset offset) const noexcept;
    void add_section(Section const& section, Offset shift);
    void keep_last();
    void keep_run(Run const& run);
    void list(Run const& run);
    [[nodiscard]] bool fits(Run const& run) const noexcept;
    void close_list();

    Run last_;       ///< What the next piece may still become a part of.
    Sections done_;  ///< What lies before the open list and `last_`.
    Pieces open_;    ///< The list that grows; its entries are in the arrays until it is closed.
    std::array<std::int32_t, list_pieces_max> places_;
    std::array<std::uint16_t, list_pieces_max> lengths_;
};

}  // namespace sluice
