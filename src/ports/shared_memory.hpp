// Memory that processes of one node share: a file without a name, found by its peers through /proc
// or handed to them, gone with the last process that maps it however that one ends. A memfd; where
// the system has none or forbids it, an unlinked file in /dev/shm or in a folder for temporary
// files.
#pragma once
#include "core/extent.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// How a peer of the same user finds the memory; trivially copyable.
struct SharedMemoryName {
    std::int64_t pid = 0;
    std::int64_t fd = -1;
    std::uint64_t device = 0, inode = 0;  ///< Against a process that only has the same number.
};

/// A file in the folder that has no name, or loses it at once; -1 where there can be none.
int open_unnamed(std::string const& folder);

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
    /// By a descriptor that a peer handed over, which belongs to the memory from then on.
    static std::optional<SharedMemory> adopt(int fd, SharedMemoryName const& name,
                                             std::size_t bytes);
    /// Private memory with the same interface, for a rank that shares with nobody.
    static std::optional<SharedMemory> create_private(std::size_t bytes);

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] SharedMemoryName name() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return fd_; }
    /// Backs the range with memory now, so that a lack is an error here and no signal later. What
    /// the range holds stays, also when others write to it meanwhile.
    [[nodiscard]] bool reserve(Span range) const noexcept;
    /// Whether its file system may be full while the machine has memory left: then pages that
    /// nobody reserved may end the process that touches them.
    [[nodiscard]] bool is_in_file() const noexcept { return !folder_.empty(); }
    /// In words.
    [[nodiscard]] std::string place() const;

private:
    bool map(std::size_t bytes, bool shared) noexcept;
    bool open_memfd(std::size_t bytes) noexcept;
    bool open_in(std::string const& folder, std::size_t bytes);
    bool make_file(std::size_t bytes);
    void release() noexcept;

    int fd_ = -1;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::string folder_;  ///< Of the unlinked file; empty: none, or not made here.
};

}  // namespace sluice
