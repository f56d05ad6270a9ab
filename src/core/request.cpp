// Questions about one rank's request. Pure.
#include "core/request.hpp"

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

Span span_of(Request const& r) noexcept {
    if (r.bytes <= 0) return {};
    Layout const& view = *r.view.filetype;
    return {r.view.displacement + view.offset_at(r.position),
            r.view.displacement + view.offset_at(r.position + r.bytes - 1) + 1};
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

std::int64_t piece_count(Request const& r) noexcept {
    return r.view.filetype->piece_count(r.position, r.position + std::max<Bytes>(r.bytes, 0));
}

Bytes bytes_before(Request const& r, Offset end_of_file) noexcept {
    return positions_in(r, {0, end_of_file}).bytes();
}

}  // namespace sluice
