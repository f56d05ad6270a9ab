// How the extended attributes of Lustre are read. See file_striping.hpp.
#include "storage/file_striping.hpp"

#include <atomic>
#include <cerrno>
#include <sys/xattr.h>

namespace sluice {
namespace {

/// The last one that was found to know none.
std::atomic<std::uint64_t> device_without{0};

}  // namespace

/// Most layouts are short; of a long one the length is asked for.
std::vector<std::byte> SystemAttributes::read(int fd, char const* name) {
    if (device_ != 0 && device_ == device_without) return {};
    std::vector<std::byte> bytes(4096);
    auto got = fgetxattr(fd, name, bytes.data(), bytes.size());
    if (got < 0 && errno == ERANGE) {
        got = fgetxattr(fd, name, nullptr, 0);
        if (got > 0) {
            bytes.resize(static_cast<std::size_t>(got));
            got = fgetxattr(fd, name, bytes.data(), bytes.size());
        }
    }
    if (got < 0 && errno == EOPNOTSUPP) device_without = device_;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

std::optional<Striping> striping_of(int fd, Attributes& attributes) {
    return parse_lustre_layout(attributes.read(fd, "lustre.lov"));
}

}  // namespace sluice
