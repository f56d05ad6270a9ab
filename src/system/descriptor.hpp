// A Descriptor owns a descriptor of the system. A file's name may lead to another file at any time;
// a descriptor never does. identity_of() tells which file is behind one.
#pragma once
#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

/// Closed with its owner.
class Descriptor {
public:
    Descriptor() noexcept = default;
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept;

    [[nodiscard]] int get() const noexcept { return fd_; }
    void reset() noexcept { (void)close(); }
    /// The errno, or 0: some file systems tell only then that they have lost what was written.
    [[nodiscard]] int close() noexcept;

private:
    int fd_ = -1;
};

/// A file that is there, or why it is not open.
struct OpenedFile {
    Descriptor descriptor;
    Error error;
};
/// The same file by a number that the program would not have without this library: a program may
/// have as many descriptors as without it. Where the limit cannot be raised half of them are its
/// own.
[[nodiscard]] OpenedFile out_of_the_way(Descriptor opened) noexcept;

/// A file of the system while somebody holds it: afterwards the numbers may be another file's.
/// Nodes may number the device of a network file system in different ways.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0;
    auto operator<=>(FileIdentity const&) const = default;
};

/// What tells a file from an earlier one that had its number: file systems use numbers again.
struct FileBirth {
    std::int64_t time = 0;         ///< Nanoseconds of the system's clock; 0: not known.
    std::uint32_t generation = 0;  ///< 0: not known.

    /// Whether both are known to be of one file; nothing where neither can be compared.
    [[nodiscard]] std::optional<bool> is_same(FileBirth const& other) const noexcept;
};
[[nodiscard]] FileBirth birth_of(int fd) noexcept;

/// Nothing where there is no such descriptor. Asks no server where the system lets it choose.
[[nodiscard]] std::optional<FileIdentity> identity_of(int fd) noexcept;

/// Whether this process has the file by a descriptor beside this one.
[[nodiscard]] bool held_beside(int fd, FileIdentity const& file) noexcept;

enum class AccessMode : std::uint8_t { read, write, both };

/// `write`: where the system lets it, the descriptor reads as well, as no file can be mapped that
/// is open only to write. `durable`: what a write through it has written is on the device when the
/// call returns.
[[nodiscard]] OpenedFile open_file(std::string const& path, AccessMode mode, bool durable = false);
/// Makes the bytes of a file durable, whichever process of the node wrote them. Blocks. The errno,
/// or 0.
[[nodiscard]] int sync_data(int fd) noexcept;

/// What a write may leave for later, each what the one before it does as well.
enum class Consistency : std::uint8_t {
    posix,          ///< Nothing: the call tells what the file system knows of it.
    late_errors,    ///< The first flush or close behind it may tell that bytes are lost: FUSE.
    close_to_open,  ///< Another node sees the bytes when it opens the file after a close: NFS.
};
/// Of the file system; unknown ones may tell late. May ask a server, but one time for a device.
[[nodiscard]] Consistency consistency_of(int fd, FileIdentity const& file);

/// Whether stores to a mapping of the file, which is open to read and write, do what writes do: on
/// the file systems where that was tried, unless a write is to be on the device when it returns.
[[nodiscard]] bool takes_stores(int fd) noexcept;

/// Makes a file so long. The errno, or 0; EFBIG beyond the process's limit of a file's size
/// (`ulimit -f`), for which the system would end the process by a signal.
[[nodiscard]] int set_length(int fd, Bytes bytes) noexcept;

/// Whether the file is on a tmpfs: it has no device to wait for, and its times tell of no stores to
/// a mapping of it.
[[nodiscard]] bool is_in_memory(int fd) noexcept;

/// A name of the file behind the descriptor, whatever became of its own; good while that is open,
/// and where the system has /proc.
[[nodiscard]] std::string name_of_descriptor(int fd);

/// The file once more, past the page cache; none where the system refuses.
[[nodiscard]] Descriptor open_past_cache(int fd, AccessMode mode);

}  // namespace sluice
