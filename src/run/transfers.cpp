// Segment by segment: see transfers.hpp.
#include "run/transfers.hpp"

namespace sluice {
namespace {

constexpr Bytes gap_bytes_read = 64 * 1024;

Layout const& or_contiguous(Layout const& layout) noexcept {
    return layout.tile_bytes() > 0 ? layout : *Layout::contiguous();
}

}  // namespace

SlotTransfer::SlotTransfer(Direction way, Slot const& slot, Offset window_begin) noexcept
    : Transfer(way),
      slot_(slot),
      window_begin_(window_begin) {}

std::optional<Segment> SlotTransfer::next() {
    auto stretch = slot_.coverage.next(at_);
    if (!stretch) return std::nullopt;
    at_ = stretch->end;
    while (direction == Direction::read) {
        auto const following = slot_.coverage.next(at_);
        if (!following || following->begin - at_ > gap_bytes_read) break;
        at_ = following->end;
    }
    return Segment{window_begin_ + stretch->begin, slot_.data + stretch->begin,
                   at_ - stretch->begin};
}

UserTransfer::UserTransfer(Request const& request, std::byte* user) noexcept
    : Transfer(request.direction),
      file_(or_contiguous(*request.view.filetype), request.position),
      memory_(or_contiguous(*request.memory), 0),
      displacement_(request.view.displacement),
      user_(user),
      left_(request.bytes) {
    if (!request.atomic || request.bytes <= 0) return;
    exclusive = request.view.filetype->is_ascending() ? span_of(request) : Span{0, endless};
}

std::optional<Segment> UserTransfer::next() {
    if (left_ <= 0) return std::nullopt;
    Offset const in_file = file_.offset(), in_memory = memory_.offset();
    Bytes const length = std::min({file_.piece_left(), memory_.piece_left(), left_});
    file_.advance_in_piece(length);
    memory_.advance_in_piece(length);
    left_ -= length;
    return Segment{displacement_ + in_file, user_ + in_memory, length};
}

}  // namespace sluice
