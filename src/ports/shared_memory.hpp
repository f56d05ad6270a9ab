// Anonymous memory that processes of one node share: a memfd, found by its peers through /proc,
// gone with the last process that maps it however that one ends. Nothing ever appears in /dev/shm.
#pragma once
#include "core/extent.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

/// How a peer of the same user finds the memory; trivially copyable.
struct SharedMemoryName {
    std::int64_t pid = 0;
    std::int64_t fd = -1;
    std::uint64_t inode = 0;  ///< Guards against a process that only has the same number.
};

/// Address space over shared memory; pages come into being when they are reserved or touched.
class SharedMemory {
public:
    SharedMemory() = default;
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&& other) noexcept;
    ~SharedMemory();

    /// Nothing when the system refuses.
    static std::optional<SharedMemory> create(std::size_t bytes);
    static std::optional<SharedMemory> attach(SharedMemoryName const& name, std::size_t bytes);
    /// Private memory with the same interface, for a rank that shares with nobody.
    static std::optional<SharedMemory> create_private(std::size_t bytes);

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] SharedMemoryName name() const noexcept;
    /// Backs the range with memory now, so that a lack is an error here and no signal later.
    [[nodiscard]] bool reserve(Span range) const noexcept;

private:
    bool map(std::size_t bytes, bool shared) noexcept;
    void release() noexcept;

    int fd_ = -1;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace sluice
