// Pages are written back with sync_file_range and dropped with posix_fadvise. See page_cache.hpp.
#include "storage/page_cache.hpp"

#include "storage/batch.hpp"
#include "system/errno_status.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t stretches_max = 64;
/// Only whole pages are dropped: stretches grow to multiples of what every page size divides.
constexpr Offset page_bytes_most = 64 * 1024;

}  // namespace

void add_touched(Touched& touched, Segment const& segment) {
    Offset const end = segment.file_offset + segment.length;
    bool const touches = !touched.empty() && touched.back().end == segment.file_offset;
    if (!touches && touched.size() < stretches_max) {
        touched.push_back({segment.file_offset, end});
        return;
    }
    Span& last = touched.back();
    last = {std::min(last.begin, segment.file_offset), std::max(last.end, end)};
}

TouchingTransfer::TouchingTransfer(Transfer& inner) : Transfer(inner.direction), inner_(inner) {
    exclusive = inner.exclusive;
    operation = inner.operation;
}

std::optional<Segment> TouchingTransfer::next() {
    auto segment = inner_.next();
    if (segment) add_touched(touched_, *segment);
    return segment;
}

void TouchingTransfer::hand_over() noexcept {
    inner_.error = error;
    inner_.bytes = bytes;
    inner_.end_of_file = end_of_file;
}

PageDropper::PageDropper(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 0)) {}

PageDropper::~PageDropper() {
    if (fd_ >= 0) close(fd_);
}

void PageDropper::note(Direction direction, Touched const& touched) {
    if (fd_ < 0) return;  // The pages stay.
    std::lock_guard const lock(noted_mutex_);
    noted_.push_back({direction, touched});
}

void PageDropper::work() {
    std::lock_guard const lock(mutex_);
    take_noted();
    while (written_bytes_ > backlog && written_.size() > 1) {
        Span const oldest = written_.front();
        written_.pop_front();
        written_bytes_ -= oldest.bytes();
        wait_and_drop(oldest);
    }
}

void PageDropper::take_noted() {
    std::vector<Noted> taken;
    {
        std::lock_guard const lock(noted_mutex_);
        taken.swap(noted_);
    }
    for (auto const& [direction, touched] : taken) {
        for (Span const& span : touched) {
            if (all_.empty()) all_ = span;
            all_ = {std::min(all_.begin, span.begin), std::max(all_.end, span.end)};
            if (direction == Direction::read) {
                drop(span);
                continue;
            }
            // A system without this call says so again when it is waited for.
            static_cast<void>(
                sync_file_range(fd_, span.begin, span.bytes(), SYNC_FILE_RANGE_WRITE));
            written_.push_back(span);
            written_bytes_ += span.bytes();
        }
    }
}

void PageDropper::wait_and_drop(Span span) {
    constexpr unsigned all =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (sync_file_range(fd_, span.begin, span.bytes(), all) != 0) {
        bool const missing = errno == ENOSYS || errno == EPERM ||  // Forbidden by a container.
                             errno == ESPIPE || errno == EINVAL;
        if (!missing) {
            error_ =
                first_of(error_, system_error("sync_file_range", errno, span.bytes(), span.begin));
        }
    }
    drop(span);
}

void PageDropper::drop(Span span) const noexcept {
    Offset const begin = span.begin / page_bytes_most * page_bytes_most;
    Offset const end = (span.end + page_bytes_most - 1) / page_bytes_most * page_bytes_most;
    posix_fadvise(fd_, begin, end - begin, POSIX_FADV_DONTNEED);
}

Error PageDropper::finish() {
    std::lock_guard const lock(mutex_);
    take_noted();
    for (Span const& span : written_) wait_and_drop(span);
    written_.clear();
    written_bytes_ = 0;
    // Pages that two stretches share stay until both are done.
    if (!all_.empty()) drop(all_);
    all_ = {};
    return std::exchange(error_, {});
}

}  // namespace sluice
