// A DirectIo is a second descriptor of a file, opened with O_DIRECT, for bytes that go past the
// page cache. docs/decisions/0017-direct-io.md says which bytes go this way, and why that is safe.
#pragma once
#include "base/page_cache.hpp"
#include "storage/faults.hpp"
#include "system/descriptor.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <sys/uio.h>

namespace sluice {

/// The front of a stretch of the file that goes one way.
struct Front {
    Bytes bytes = 0;
    bool direct_io = false;
    bool operator==(Front const&) const = default;
};

/// Whole units go past the page cache; what lies before the first and behind the last of them goes
/// through it.
[[nodiscard]] Front front_of(Offset offset, Bytes bytes, Bytes unit) noexcept;

/// Requests of a file that is opened for direct I/O, by the way they went.
struct DirectIoTally {
    std::int64_t direct = 0;   ///< Past the page cache.
    std::int64_t bounced = 0;  ///< Of these, those with memory that had to be copied.
    std::int64_t cached = 0;
    bool operator==(DirectIoTally const&) const = default;
};

class DirectIo {
public:
    /// Opens the file of `fd` once more. Null where the system refuses. Nothing is read ahead
    /// through `fd` from now on: what goes that way all the same is less than a page.
    [[nodiscard]] static std::unique_ptr<DirectIo> open(int fd, AccessMode mode, Faults* faults);
    DirectIo(DirectIo const&) = delete;
    DirectIo& operator=(DirectIo const&) = delete;

    [[nodiscard]] int fd() const noexcept { return descriptor_.get(); }
    /// See Descriptor::close(). No request follows.
    [[nodiscard]] int close() noexcept { return descriptor_.close(); }
    /// Of offsets and lengths; whole pages, and whole blocks of the device. A power of two.
    [[nodiscard]] Bytes unit() const noexcept { return unit_; }
    /// False once the system refused a request: then everything goes through the page cache.
    [[nodiscard]] bool granted() const noexcept { return granted_.load(std::memory_order_relaxed); }
    /// Whether the device can reach the memory as it lies.
    [[nodiscard]] bool reaches(iovec const* vectors, int count) const noexcept;

    /// What a read may ask for past the page cache: a device that reads the page in which the file
    /// ends fills all of the memory, with zeros behind the end.
    [[nodiscard]] Front before_end(Offset offset, Front front) const noexcept;

    void refused() noexcept;
    void count(bool direct, bool bounced) noexcept;
    [[nodiscard]] DirectIoTally tally() const noexcept { return {direct_, bounced_, cached_}; }

private:
    DirectIo(Descriptor descriptor, int cached_fd, Bytes unit, Bytes memory_unit) noexcept;

    Descriptor descriptor_;
    int const cached_fd_;
    Bytes const unit_, memory_unit_;
    std::atomic<bool> granted_{true};
    std::atomic<std::int64_t> direct_{0}, bounced_{0}, cached_{0};
};

/// Memory that a device reaches, for the bytes of a request whose own memory it does not.
class Bounce {
public:
    static constexpr Bytes bytes_max = Bytes{1} << 20;

    /// Begins at a multiple of `unit`. False where the system has no memory.
    [[nodiscard]] bool reserve(Bytes bytes, Bytes unit) noexcept;
    [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    Bytes capacity_ = 0;
};

}  // namespace sluice
