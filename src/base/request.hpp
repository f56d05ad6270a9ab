// What one rank wants of one collective call, without addresses: a stretch of positions of its file
// view, and the layout of its memory. Pure. Next stage: file/plan/summary.hpp reduces all ranks'
// requests to one record of fixed size.
#pragma once
#include "base/layout.hpp"

#include <optional>

namespace sluice {

enum class Direction : std::uint8_t { write, read };
/// Of arrays by Direction.
constexpr std::size_t index_of(Direction direction) noexcept {
    return static_cast<std::size_t>(direction);
}

char const* describe(Direction direction) noexcept;

/// A file view: where the bytes of a rank's stream lie in the file.
struct View {
    Offset displacement = 0;
    std::shared_ptr<Layout const> filetype = Layout::contiguous();
    Bytes etype_bytes = 1;
};

/// The view, the position and the datatypes are captured when the call is made; the program may
/// change or free them at once.
struct Request {
    Direction direction = Direction::write;
    View view;
    Bytes position = 0;  ///< In the view's stream, in bytes.
    Bytes bytes = 0;
    std::shared_ptr<Layout const> memory = Layout::contiguous();
    bool atomic = false;  ///< One indivisible access (atomic mode of the file).
};

/// A request of nothing; lives for ever.
[[nodiscard]] Request const& nothing(Direction direction);

/// Requests whose bytes lie in one tile ask for no order among tiles: where only its tiles overlap
/// each other, the request gets an ascending view of the same bytes. PnetCDF's root has such views:
/// the header and one variable, repeated before the variable ends.
void separate_tiles(Request& request);

/// How much farther in the file the bytes of `to` lie than those of `from`; nothing where they lie
/// differently to each other, or where finding out would take long. Two requests of nothing are
/// alike.
[[nodiscard]] std::optional<Offset> distance_between(Request const& from, Request const& to);

/// Where the request's byte `index`, counted from its begin, lies in the file.
[[nodiscard]] Offset offset_in_file(Request const& request, Bytes index) noexcept;

/// First to last byte wanted; empty when nothing is. Needs an ascending view.
[[nodiscard]] Span span_of(Request const& request) noexcept;

/// The stream positions, counted from the request's begin, whose bytes lie in `window`.
/// Needs an ascending view. O(log runs).
[[nodiscard]] Span positions_in(Request const& request, Span window) noexcept;

/// All file offsets and lengths that the request uses, or-ed; the lowest set bit divides them all.
[[nodiscard]] std::uint64_t alignment_bits(Request const& request) noexcept;

/// Whether a layout's bytes [position, position + bytes), from `origin` on, lie between `least` and
/// offset_limit. Asked once, when a call is captured: nothing else here looks for overflow.
[[nodiscard]] bool is_in_range(Layout const& layout, Offset origin, Bytes position, Bytes bytes,
                               Offset least) noexcept;

/// Pieces of the file that the request falls into.
[[nodiscard]] std::int64_t piece_count(Request const& request) noexcept;

/// Blocks of the file, each `unit` bytes long, that hold bytes of the request. Counted for the
/// first 64, and as if the rest went on like that. Needs an ascending view.
[[nodiscard]] std::int64_t blocks_touched(Request const& request, Bytes unit) noexcept;

/// Bytes of the request that lie before `end_of_file`: what a read can deliver.
[[nodiscard]] Bytes bytes_before(Request const& request, Offset end_of_file) noexcept;

}  // namespace sluice
