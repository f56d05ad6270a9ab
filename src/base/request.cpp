// How the span and the pieces of a request are found. See request.hpp.
#include "base/request.hpp"

#include <algorithm>

namespace sluice {

char const* describe(Direction direction) noexcept {
    return direction == Direction::write ? "write" : "read";
}

Request const& nothing(Direction direction) {
    auto const make = [](Direction way) {
        Request r;
        r.direction = way;
        return r;
    };
    static Request const write = make(Direction::write), read = make(Direction::read);
    return direction == Direction::write ? write : read;
}

void separate_tiles(Request& r) {
    Layout const& view = *r.view.filetype;
    if (r.bytes <= 0 || view.is_ascending() || !view.tile_is_ascending()) return;
    std::int64_t const tile = r.position / view.tile_bytes();
    if ((r.position + r.bytes - 1) / view.tile_bytes() != tile) return;
    r.position -= tile * view.tile_bytes();
    r.view.displacement += tile * view.tile_extent();
    r.view.filetype = view.with_tiles_apart();
}

namespace {

/// Walks over the bytes of two requests side by side.
class Pair {
public:
    Pair(Request const& from, Request const& to) noexcept
        : from_(*from.view.filetype, from.position),
          to_(*to.view.filetype, to.position),
          displaced_(to.view.displacement - from.view.displacement),
          left_(from.bytes) {}

    [[nodiscard]] bool ended() const noexcept { return left_ <= 0; }
    [[nodiscard]] Offset distance() const noexcept {
        return displaced_ + to_.offset() - from_.offset();
    }
    /// Over bytes that all have the same distance.
    void advance() noexcept {
        Run const a = from_.ahead(), b = to_.ahead();
        bool const alike = a.length == b.length && a.stride == b.stride;
        std::int64_t const pieces = alike ? std::min({a.count, b.count, left_ / a.length}) : 0;
        if (pieces > 1) {
            Bytes const bytes = pieces * a.length;
            from_.advance(from_.pieces(bytes));
            to_.advance(to_.pieces(bytes));
            left_ -= bytes;
            return;
        }
        Bytes const step = std::min({from_.piece_left(), to_.piece_left(), left_});
        from_.advance_in_piece(step);
        to_.advance_in_piece(step);
        left_ -= step;
    }

private:
    Cursor from_, to_;
    Offset displaced_;
    Bytes left_;
};

}  // namespace

std::optional<Offset> distance_between(Request const& from, Request const& to) {
    constexpr int most_steps = 1 << 16;
    if (from.bytes != to.bytes) return std::nullopt;
    if (from.bytes <= 0) return 0;
    if (from.view.filetype == to.view.filetype && from.position == to.position)
        return to.view.displacement - from.view.displacement;
    Pair pair(from, to);
    Offset const distance = pair.distance();
    for (int step = 0; !pair.ended(); pair.advance(), ++step) {
        if (pair.distance() != distance || step == most_steps) return std::nullopt;
    }
    return distance;
}

Offset offset_in_file(Request const& r, Bytes index) noexcept {
    return r.view.displacement + r.view.filetype->offset_at(r.position + index);
}

Span span_of(Request const& r) noexcept {
    if (r.bytes <= 0) return {};
    return {offset_in_file(r, 0), offset_in_file(r, r.bytes - 1) + 1};
}

Span positions_in(Request const& r, Span window) noexcept {
    if (r.bytes <= 0 || window.empty()) return {};
    Layout const& view = *r.view.filetype;
    Bytes const begin = view.position_at_or_after(window.begin - r.view.displacement);
    Bytes const end = view.position_at_or_after(window.end - r.view.displacement);
    return clip({begin - r.position, end - r.position}, {0, r.bytes});
}

std::uint64_t alignment_bits(Request const& r) noexcept {
    if (r.bytes <= 0) return 0;
    Span const all = span_of(r);
    return r.view.filetype->alignment_bits() | static_cast<std::uint64_t>(r.view.displacement) |
           static_cast<std::uint64_t>(all.begin | all.end);
}

bool is_in_range(Layout const& layout, Offset origin, Bytes position, Bytes bytes,
                 Offset least) noexcept {
    __extension__ using Wide = __int128;
    Wide const end = Wide{position} + bytes;
    if (position < 0 || bytes < 0 || end > offset_limit || origin > offset_limit) return false;
    if (bytes == 0) return true;
    if (layout.tile_bytes() == 0) return false;
    Wide const first = Wide{position / layout.tile_bytes()} * layout.tile_extent();
    Wide const last = (end - 1) / layout.tile_bytes() * layout.tile_extent();
    return origin + std::min(first, last) + layout.tile_span().begin >= least &&
           origin + std::max(first, last) + layout.tile_span().end <= offset_limit;
}

std::int64_t piece_count(Request const& r) noexcept {
    return r.view.filetype->piece_count(r.position, r.position + std::max<Bytes>(r.bytes, 0));
}

std::int64_t blocks_touched(Request const& r, Bytes unit) noexcept {
    constexpr std::int64_t counted_at_most = 64;
    std::int64_t count = 0;
    Bytes done = 0;
    for (; done < r.bytes && count < counted_at_most; ++count) {
        Offset const at = offset_in_file(r, done);
        Offset const next = (at / unit + 1) * unit;
        done = std::max(done + 1, positions_in(r, {at, next}).end);
    }
    if (done <= 0 || done >= r.bytes) return count;
    double const rest = static_cast<double>(r.bytes) / static_cast<double>(done);
    return static_cast<std::int64_t>(static_cast<double>(count) * rest);
}

Bytes bytes_before(Request const& r, Offset end_of_file) noexcept {
    return positions_in(r, {0, end_of_file}).bytes();
}

}  // namespace sluice
