// How segments are gathered, requests are cut and answers are taken. See batch.hpp.
#include "storage/batch.hpp"

#include "system/errno_status.hpp"
#include "system/page_bytes.hpp"

#include <cerrno>
#include <cstring>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace sluice {

namespace {

constexpr std::size_t glance = 64;  ///< Pieces after which it is clear that they touch.

char const* name_of_call(Direction direction, int count) noexcept {
    bool const write = direction == Direction::write;
    if (count == 1) return write ? "pwrite" : "pread";
    return write ? "pwritev" : "preadv";
}

}  // namespace

bool Patience::again(long result) noexcept {
    if (result == -EINTR) return true;
    if (result != 0 && result != -EAGAIN) return false;
    if (++tries_ == tries_most) return false;
    sched_yield();
    return true;
}

std::optional<Segment> Segments::next() {
    if (next_seen_ < seen_.size()) return seen_[next_seen_++];
    return transfer_.next();
}

/// Without memory for more, what was seen is all.
bool Segments::has_room() {
    if (seen_.size() < seen_.capacity()) return true;
    try {
        seen_.reserve(std::max<std::size_t>(64, 2 * seen_.size()));
    } catch (std::bad_alloc const&) {
        return false;
    }
    return true;
}

/// Whether a piece may be written at once with those that were seen.
bool Segments::goes_on(Segment const& piece) const noexcept {
    Segment const &first = seen_.front(), &last = seen_.back();
    Offset const behind = last.file_offset + last.length;
    Offset const end = (first.file_offset / mapped_window_bytes + 1) * mapped_window_bytes;
    return piece.length <= mapped_piece_bytes_most && piece.file_offset >= behind &&
           piece.file_offset - behind < page_bytes() && piece.file_offset + piece.length <= end;
}

std::span<Segment const> Segments::mappable() {
    bool const is_new = next_seen_ == seen_.size();
    if (!is_new || !ahead_ || ahead_->length > mapped_piece_bytes_most) return {};
    seen_.clear(), next_seen_ = mappable_ = 0;
    if (!has_room()) return {};
    seen_.push_back(*ahead_);
    next_seen_ = mappable_ = 1;
    while (mappable_ == seen_.size() && mappable_ < mapped_pieces_most && has_room()) {
        bool const touch = mappable_ == glance && requests_of(seen_) < std::ssize(seen_) / 2;
        auto const one = touch ? std::nullopt : transfer_.next();
        if (!one) break;
        mappable_ += goes_on(*one);
        seen_.push_back(*one);
    }
    auto const pieces = std::span<Segment const>(seen_).first(mappable_);
    return mapping_pays(pieces) ? pieces : std::span<Segment const>();
}

void Segments::drop_mappable() {
    next_seen_ = mappable_;
    ahead_ = next();
}

bool Segments::fill(Batch& batch) {
    batch.clear(ahead_ ? ahead_->file_offset : 0);
    if (!ahead_) return false;
    Bytes const room = batch_bytes_ - batch.offset_ % unit_;
    while (ahead_ && batch.left_ < room && batch.end_ < Batch::vectors_max &&
           ahead_->file_offset == batch.offset_ + batch.left_) {
        Segment part = *ahead_;
        part.length = std::min(part.length, room - batch.left_);
        if (batch.end_ == Batch::vectors_max - 1) {  // The last: no page is torn if it can be.
            Bytes const behind_unit = (part.file_offset + part.length) % unit_;
            if (behind_unit < part.length) part.length -= behind_unit;
        }
        batch.add(part);
        if (part.length == ahead_->length)
            ahead_ = next();
        else
            ahead_ = {part.file_offset + part.length, part.memory + part.length,
                      ahead_->length - part.length};
    }
    batch.asked_end_ = batch.end_;
    return true;
}

void Batch::clear(Offset offset) noexcept {
    uncut();
    first_ = end_ = asked_end_ = 0;
    offset_ = offset;
    left_ = 0;
    direct_io_fails_ = false;
    patience_ = {};
}

void Batch::add(Segment const& segment) noexcept {
    auto const length = static_cast<std::size_t>(segment.length);
    left_ += segment.length;
    if (end_ > 0) {
        iovec& last = vectors_[end_ - 1];
        if (static_cast<std::byte*>(last.iov_base) + last.iov_len == segment.memory) {
            last.iov_len += length;
            return;
        }
    }
    vectors_[end_++] = {segment.memory, length};
}

bool Batch::ask(Route const& route, Transfer& transfer) {
    for (bool left = first_ < end_; left;) {
        Bytes const bytes = choose(route, transfer.direction);
        call_ = name_of_call(transfer.direction, count());
        bool const write = transfer.direction == Direction::write;
        if (route.faults) [[unlikely]] {
            long const met =
                route.faults->meet({transfer.direction, offset_, bytes, direct_io_ != nullptr});
            if (met <= 0) {
                left = take(met, transfer);
                continue;
            }
            if (met < bytes) {
                uncut();
                cut(met);
                // As after a real one, the page cache takes what is no whole unit.
                if (met % route.unit() != 0) fd_ = route.fd;
            }
        }
        if (bounced_ && write) gather();
        if (route.tracer && route.tracer->records()) [[unlikely]]
            begin_trace(route, transfer);
        return true;
    }
    return false;
}

void Batch::begin_trace(Route const& route, Transfer const& transfer) noexcept {
    bool const write = transfer.direction == Direction::write;
    auto const how = count() > 1 ? TraceRequest::vectored : TraceRequest::single;
    tracer_ = route.tracer;
    event_ = {.begin = tracer_->now(),
              .operation = transfer.operation,
              .offset = offset_,
              .file = route.traced_file,
              .kind = write ? TraceKind::request_write : TraceKind::request_read,
              .detail = static_cast<std::uint8_t>(how)};
}

/// Where the front goes, and how much of it at once.
Bytes Batch::choose(Route const& route, Direction direction) {
    Front front{left_, false};
    if (route.direct_io && route.direct_io->granted() && !direct_io_fails_) {
        front = front_of(offset_, left_, route.unit());
        if (front.direct_io && direction == Direction::read) {
            front = route.direct_io->before_end(offset_, front);
        }
    }
    direct_io_ = front.direct_io ? route.direct_io : nullptr;
    cut(front.bytes);
    if (direct_io_ && !direct_io_->reaches(vectors(), count())) {
        uncut();
        Bytes const bytes = std::min(front.bytes, Bounce::bytes_max);
        if (bounce_.reserve(bytes, route.unit())) {
            cut(bytes);
            bounced_ = true;
        } else {  // No memory: the page cache takes any.
            direct_io_ = nullptr;
            cut(front.bytes);
        }
    }
    fd_ = direct_io_ ? direct_io_->fd() : route.fd;
    if (route.direct_io) route.direct_io->count(direct_io_ != nullptr, bounced_);
    return asked_;
}

/// Asks for the front only.
void Batch::cut(Bytes bytes) noexcept {
    auto rest = static_cast<std::size_t>(bytes);
    asked_ = bytes;
    asked_end_ = first_;
    while (rest > vectors_[asked_end_].iov_len) rest -= vectors_[asked_end_++].iov_len;
    iovec& last = vectors_[asked_end_++];
    held_back_ = last.iov_len - rest;
    last.iov_len = rest;
    bounce_range_ = {bounce_.data(), static_cast<std::size_t>(bytes)};
}

void Batch::uncut() noexcept {
    if (held_back_ > 0) vectors_[asked_end_ - 1].iov_len += held_back_;
    held_back_ = 0;
}

void Batch::gather() noexcept {
    std::byte* to = bounce_.data();
    for (int i = first_; i < asked_end_; ++i) {
        std::memcpy(to, vectors_[i].iov_base, vectors_[i].iov_len);
        to += vectors_[i].iov_len;
    }
}

void Batch::scatter(Bytes bytes) noexcept {
    std::byte const* from = bounce_.data();
    auto rest = static_cast<std::size_t>(bytes);
    for (int i = first_; rest > 0; ++i) {
        std::size_t const length = std::min(rest, vectors_[i].iov_len);
        std::memcpy(vectors_[i].iov_base, from, length);
        from += length;
        rest -= length;
    }
}

void Batch::drop(Bytes dropped) noexcept {
    auto bytes = static_cast<std::size_t>(dropped);
    offset_ += dropped;
    left_ -= dropped;
    while (first_ < end_ && bytes >= vectors_[first_].iov_len) bytes -= vectors_[first_++].iov_len;
    if (first_ == end_) return;
    iovec& rest = vectors_[first_];
    rest = {static_cast<std::byte*>(rest.iov_base) + bytes, rest.iov_len - bytes};
}

bool Batch::take(long result, Transfer& transfer) noexcept {
    if (Tracer* const tracer = std::exchange(tracer_, nullptr)) [[unlikely]] {
        event_.end = tracer->now();
        event_.bytes = std::max(result, 0L);
        tracer->add(event_);
    }
    DirectIo* const direct_io = std::exchange(direct_io_, nullptr);
    bool const bounced = std::exchange(bounced_, false);
    if (bounced && result > 0 && transfer.direction == Direction::read) scatter(result);
    uncut();
    asked_end_ = end_;
    bool const at_end = result == 0 && transfer.direction == Direction::read;
    if (result <= 0 && !at_end && patience_.again(result)) return true;
    if (direct_io && goes_through_cache(*direct_io, result)) return true;
    if (result <= 0) {
        note_end(result, transfer);
        return false;
    }
    patience_ = {};
    transfer.bytes += result;
    drop(result);
    return first_ < end_;
}

/// Whether the request failed because it was to go past the page cache, and what is asked next will
/// go through it.
bool Batch::goes_through_cache(DirectIo& direct_io, long result) noexcept {
    if (result == -EFAULT) return direct_io_fails_ = true;  // Memory that no device reaches.
    if (result != -EINVAL && result != -EOPNOTSUPP) return false;
    direct_io.refused();
    return true;
}

/// Nothing more of the batch is asked for.
void Batch::note_end(long result, Transfer& transfer) noexcept {
    first_ = end_;
    left_ = 0;
    if (result < 0) {
        transfer.fail(system_error(call_, static_cast<int>(-result), asked_, offset_));
    } else if (transfer.direction == Direction::write) {  // A device that takes no more.
        transfer.fail(system_error(call_, EIO, asked_, offset_));
    } else {
        transfer.end_of_file = std::min(transfer.end_of_file, offset_);
    }
}

long make_request(Batch const& request, Direction direction) noexcept {
    bool const write = direction == Direction::write;
    iovec const* const vectors = request.vectors();
    int const fd = request.fd(), count = request.count();
    Offset const at = request.offset();
    ssize_t result = 0;
    if (count == 1) {
        result = write ? pwrite(fd, vectors->iov_base, vectors->iov_len, at)
                       : pread(fd, vectors->iov_base, vectors->iov_len, at);
    } else {
        result = write ? pwritev(fd, vectors, count, at) : preadv(fd, vectors, count, at);
    }
    return result < 0 ? -errno : result;
}

}  // namespace sluice
