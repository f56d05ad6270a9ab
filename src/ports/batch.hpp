// Segments of a transfer that touch in the file, gathered for one request to the system; and what
// is made of its answer. The same for all ways of asking: ports/posix.hpp, ports/uring.hpp.
#pragma once
#include "ports/port.hpp"

#include <sys/uio.h>

namespace sluice {

Status status_of_errno(int error) noexcept;

/// Linux transfers at most 2 GiB - 4 KiB at once.
inline constexpr Bytes bytes_at_once = Bytes{1} << 30;

class Batch;

/// The segments of a transfer, cut where a batch is full.
class Segments {
public:
    explicit Segments(Transfer& transfer, Bytes batch_bytes = bytes_at_once)
        : transfer_(transfer),
          batch_bytes_(batch_bytes),
          ahead_(transfer.next()) {}

    /// The next ones that touch; false at the end.
    bool fill(Batch& batch);

private:
    Transfer& transfer_;
    Bytes batch_bytes_;
    std::optional<Segment> ahead_;
};

class Batch {
public:
    [[nodiscard]] iovec const* vectors() const noexcept { return vectors_ + first_; }
    [[nodiscard]] int count() const noexcept { return end_ - first_; }
    [[nodiscard]] Offset offset() const noexcept { return offset_; }

    /// Notes in the transfer's results what a request for the batch gave: bytes, zero at the end
    /// of the file, or -errno. True if a rest is left to be asked for.
    bool take(long result, Transfer& transfer) noexcept;

private:
    friend class Segments;
    static constexpr int vectors_max = 64;

    void add(Segment const& segment) noexcept;
    void drop(std::size_t bytes) noexcept;

    iovec vectors_[vectors_max];
    int first_ = 0, end_ = 0;
    Offset offset_ = 0;
};

}  // namespace sluice
