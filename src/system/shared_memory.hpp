// SharedMemory is memory that processes of one node share. It is a memfd, or where the system has
// none or forbids it, an unlinked file in /dev/shm or in a folder for temporary files. Peers find
// it through /proc, or it is handed to them, and it is gone with the last process that maps it,
// however that one ends.
#pragma once
#include "system/mapping.hpp"

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

/// A file in memory alone; -1 where the system has none, or forbids it.
int memory_file() noexcept;

/// A file in memory, and addresses over all of it where it was not made without them. Pages come
/// into being when they are reserved or touched.
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

    /// The same, but without addresses: part() gives some. What was made by the default constructor
    /// stands for private memory.
    static std::optional<SharedMemory> create_unmapped(std::size_t bytes);
    static std::optional<SharedMemory> attach_unmapped(SharedMemoryName const& name);
    static std::optional<SharedMemory> adopt_unmapped(int fd, SharedMemoryName const& name);
    /// Must not outlive this. Nothing of it is open.
    [[nodiscard]] std::optional<Mapping> part(Span part) const;

    [[nodiscard]] std::byte* data() const noexcept { return mapping_.data(); }
    [[nodiscard]] SharedMemoryName name() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return fd_; }
    /// See Mapping; of memory with addresses.
    [[nodiscard]] bool reserve(Span range) const noexcept { return mapping_.reserve(range); }
    /// Whether its file system may be full while the machine has memory left: then pages that
    /// nobody reserved may end the process that touches them. Known to who made it.
    [[nodiscard]] bool is_in_file() const noexcept { return !folder_.empty(); }
    /// In words.
    [[nodiscard]] std::string place() const;

private:
    bool map_all(std::size_t bytes);
    bool open_memfd(std::size_t bytes) noexcept;
    bool open_in(std::string const& folder, std::size_t bytes);
    bool make_file(std::size_t bytes);
    void release() noexcept;

    int fd_ = -1;
    Mapping mapping_;
    std::string folder_;  ///< Of the unlinked file; empty: none, or not made here.
};

}  // namespace sluice
