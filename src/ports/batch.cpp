// Gathering of segments, and answers of the system. See batch.hpp.
#include "ports/batch.hpp"

#include <cerrno>

namespace sluice {

bool Segments::fill(Batch& batch) {
    batch.first_ = batch.end_ = 0;
    if (!ahead_) return false;
    batch.offset_ = ahead_->file_offset;
    Bytes bytes = 0;
    while (ahead_ && bytes < batch_bytes_ && batch.end_ < Batch::vectors_max &&
           ahead_->file_offset == batch.offset_ + bytes) {
        Segment part = *ahead_;
        part.length = std::min(part.length, batch_bytes_ - bytes);
        batch.add(part);
        bytes += part.length;
        if (part.length == ahead_->length)
            ahead_ = transfer_.next();
        else
            ahead_ = {part.file_offset + part.length, part.memory + part.length,
                      ahead_->length - part.length};
    }
    return true;
}

void Batch::add(Segment const& segment) noexcept {
    auto const length = static_cast<std::size_t>(segment.length);
    if (end_ > 0) {
        iovec& last = vectors_[end_ - 1];
        if (static_cast<std::byte*>(last.iov_base) + last.iov_len == segment.memory) {
            last.iov_len += length;
            return;
        }
    }
    vectors_[end_++] = {segment.memory, length};
}

void Batch::drop(std::size_t bytes) noexcept {
    offset_ += static_cast<Offset>(bytes);
    while (first_ < end_ && bytes >= vectors_[first_].iov_len) bytes -= vectors_[first_++].iov_len;
    if (first_ == end_) return;
    iovec& rest = vectors_[first_];
    rest = {static_cast<std::byte*>(rest.iov_base) + bytes, rest.iov_len - bytes};
}

bool Batch::take(long result, Transfer& transfer) noexcept {
    if (result == -EINTR) return true;
    if (result < 0) {
        transfer.status = agreed(transfer.status, status_of_errno(static_cast<int>(-result)));
        return false;
    }
    if (result == 0) {  // Reading: the end of the file. Writing: a device that takes no more.
        if (transfer.direction == Direction::write)
            transfer.status = agreed(transfer.status, Status::io);
        else
            transfer.end_of_file = std::min(transfer.end_of_file, offset_);
        return false;
    }
    transfer.bytes += result;
    drop(static_cast<std::size_t>(result));
    return first_ < end_;
}

Status status_of_errno(int error) noexcept {
    switch (error) {
    case 0:
        return Status::ok;
    case ENOENT:
        return Status::no_such_file;
    case EACCES:
    case EPERM:
        return Status::access;
    case EROFS:
        return Status::read_only;
    case ENOSPC:
        return Status::no_space;
    case EDQUOT:
        return Status::quota;
    case EBADF:
        return Status::amode;
    case ENOMEM:
        return Status::no_memory;
    case EFBIG:
        return Status::no_space;
    case EFAULT:
        return Status::buffer;
    default:
        return Status::io;
    }
}

}  // namespace sluice
