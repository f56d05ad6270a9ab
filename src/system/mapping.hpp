// A Mapping is a range of addresses, of a file in memory or of private memory, in which only the
// parts that were opened have memory. The rest costs address space alone: it gets no memory even
// where the program locks all that it maps (mlockall), and it is in no core dump.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

/// Immovable in memory while it lives; the object may be moved.
class Mapping {
public:
    Mapping() = default;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    /// The part of the file; private memory of its length for the descriptor -1. Nothing where the
    /// system's limits are reached. The descriptor outlives it. Begins at a page.
    static std::optional<Mapping> of(int fd, Span part);

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    /// From now on the range may be touched. It may be false for private memory that the system
    /// does not promise; shared memory is promised when it is reserved.
    [[nodiscard]] bool open(Span range) const noexcept;
    /// What is touched gets memory in large pages, where the system has them: some faults in the
    /// place of hundreds.
    void prefer_large_pages() const noexcept;
    /// Opens the range and backs it with memory now, so that a lack is an error here and no signal
    /// later. What the range holds stays, also when others write to it meanwhile.
    [[nodiscard]] bool reserve(Span range) const noexcept;

private:
    int fd_ = -1;
    Offset begin_ = 0;  ///< In the file.
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// False where reading some of the bytes would end the process by a signal; true where the system
/// cannot be asked (before Linux 5.14). It may read pages of files.
[[nodiscard]] bool can_be_read(std::byte const* first, std::size_t bytes) noexcept;

}  // namespace sluice
