// The bodies of the transfers: each yields its segments one by one. See transfers.hpp.
#include "file/run/transfers.hpp"

namespace sluice {
namespace {

constexpr Bytes gap_bytes_most = Bytes{1} << 20;  ///< Memory for what nobody wants.

std::size_t index(Bytes bytes) noexcept { return static_cast<std::size_t>(bytes); }

Layout const& or_contiguous(Layout const& layout) noexcept {
    return layout.tile_bytes() > 0 ? layout : *Layout::contiguous();
}

}  // namespace

CbBufferTransfer::CbBufferTransfer(Direction way, CbBuffer const& cb_buffer, Window const& window,
                                   Bytes gap_bytes) noexcept
    : Transfer(way),
      cb_buffer_(cb_buffer),
      window_(window),
      gap_bytes_(gap_bytes) {}

/// The next marked bytes, cut at the end of the part: the next part lies elsewhere in the file.
std::optional<Span> CbBufferTransfer::stretch_in_part() {
    auto const stretch = cb_buffer_.coverage.next(at_);
    if (!stretch || window_.part_count == 1) return stretch;
    part_ = stretch->begin / window_.part_bytes;
    return clip(*stretch, {stretch->begin, window_.place(part_ + 1)});
}

std::optional<Segment> CbBufferTransfer::next() {
    auto const stretch = stretch_in_part();
    if (!stretch) return std::nullopt;
    at_ = stretch->end;
    Offset const end = window_.place(part_ + 1);
    while (direction == Direction::read) {
        auto const following = cb_buffer_.coverage.next(at_);
        if (!following || following->begin - at_ > gap_bytes_) break;
        if (following->begin >= end) break;
        at_ = std::min(following->end, end);
    }
    Offset const begin = window_.part(part_).begin + (stretch->begin - window_.place(part_));
    return Segment{begin, cb_buffer_.data + stretch->begin, at_ - stretch->begin};
}

WholeTransfer::WholeTransfer(Direction way, std::byte* cb_buffer, Window const& window,
                             Span span) noexcept
    : Transfer(way),
      cb_buffer_(cb_buffer),
      window_(window),
      span_(span) {}

std::optional<Segment> WholeTransfer::next() {
    while (part_ < window_.part_count) {
        Span const part = window_.part(part_);
        Span const wanted = clip(part, span_);
        std::byte* const from = cb_buffer_ + window_.place(part_++) + (wanted.begin - part.begin);
        if (!wanted.empty()) return Segment{wanted.begin, from, wanted.bytes()};
    }
    return std::nullopt;
}

UserTransfer::UserTransfer(Request const& request, UserMemory user, Bytes gap_bytes)
    : Transfer(request.direction),
      request_(request),
      file_(or_contiguous(*request.view.filetype), request.position),
      memory_(or_contiguous(*request.memory), 0),
      displacement_(request.view.displacement),
      user_(user),
      left_(request.bytes),
      gap_bytes_(std::min(gap_bytes, gap_bytes_most)) {
    if (!request.view.filetype->is_ascending() || direction == Direction::write) gap_bytes_ = 0;
    if (gap_bytes_ > 0) gaps_ = std::make_unique<std::byte[]>(index(gap_bytes_));
    at_ = displacement_ + file_.offset();
    if (!request.atomic || request.bytes <= 0) return;
    exclusive = request.view.filetype->is_ascending() ? span_of(request) : Span{0, endless};
}

std::optional<Segment> UserTransfer::next() {
    if (left_ <= 0) return std::nullopt;
    if (user_.device) return next_staged();
    if (auto const skipped = gap()) return skipped;
    auto const segment = piece(memory_.piece_left(), user_.data + memory_.offset());
    memory_.advance_in_piece(segment->length);
    return segment;
}

/// The next piece of the file, of which so many bytes at most lie together in memory.
std::optional<Segment> UserTransfer::piece(Bytes most, std::byte* memory) {
    Offset const in_file = displacement_ + file_.offset();
    Bytes const length = std::min({file_.piece_left(), most, left_});
    file_.advance_in_piece(length);
    left_ -= length;
    at_ = in_file + length;
    return Segment{in_file, memory, length};
}

std::optional<Segment> UserTransfer::next_staged() {
    if (!staged_) {
        staged_.emplace(user_, or_contiguous(*request_.memory), direction, left_,
                        !request_.view.filetype->is_ascending());
        left_in_part_ = staged_->begin_part();
        if (left_in_part_ == 0) fail(staged_->finish());
    }
    if (left_in_part_ == 0) return std::nullopt;
    if (auto const skipped = gap()) return skipped;
    Bytes const in_part = request_.bytes - left_ - staged_->begin();
    auto const segment = piece(left_in_part_, staged_->window() + in_part);
    left_in_part_ -= segment->length;
    return segment;
}

/// Behind the end of the file nothing was read.
bool UserTransfer::next_part() {
    if (!staged_) return false;
    bool const ends = end_of_file < endless && request_.view.filetype->is_ascending();
    if (direction == Direction::read && !error) {
        Bytes const read = ends ? bytes_before(request_, end_of_file) : request_.bytes - left_;
        staged_->end_part(std::max<Bytes>(read - staged_->begin(), 0));
    }
    left_in_part_ = error || left_ == 0 || ends ? 0 : staged_->begin_part();
    if (left_in_part_ == 0) fail(staged_->finish());
    return left_in_part_ > 0;
}

/// What lies before the next piece, if it is to be read along.
std::optional<Segment> UserTransfer::gap() {
    Offset const begin = at_, end = displacement_ + file_.offset();
    if (end <= begin || end - begin > gap_bytes_) return std::nullopt;
    at_ = end;
    return Segment{begin, gaps_.get(), end - begin};
}

Bytes UserTransfer::wanted_bytes() const noexcept {
    if (gap_bytes_ == 0) return bytes;
    return end_of_file < endless ? bytes_before(request_, end_of_file) : request_.bytes;
}

}  // namespace sluice
