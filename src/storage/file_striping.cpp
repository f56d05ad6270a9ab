// How the extended attributes of Lustre are read and written. See file_striping.hpp.
#include "storage/file_striping.hpp"

#include "system/errno_status.hpp"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace sluice {
namespace {

constexpr char const* layout_name = "lustre.lov";

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

/// A folder without a layout of its own says that it has no such attribute, and not that there are
/// none.
bool SystemAttributes::may_be_in(std::string const& folder, char const* name) {
    return getxattr(folder.c_str(), name, nullptr, 0) >= 0 || errno == ENODATA;
}

Error SystemAttributes::write(std::string const& path, char const* name,
                              std::vector<std::byte> const& bytes) {
    return setxattr(path.c_str(), name, bytes.data(), bytes.size(), 0) == 0
               ? Error{}
               : system_error("setxattr", errno);
}

std::optional<Striping> striping_of(int fd, Attributes& attributes) {
    return parse_lustre_layout(attributes.read(fd, layout_name));
}

bool can_be_striped(std::string const& path, Attributes& attributes) {
    return attributes.may_be_in(std::filesystem::path(path).parent_path().string(), layout_name);
}

/// A file that mknod makes has no stripes until it is opened: Lustre's own way without its library,
/// by which tar restores layouts.
Error make_striped(std::string const& path, Striping const& wanted, Attributes& attributes) {
    constexpr mode_t as_others = 0666;
    if (mknod(path.c_str(), S_IFREG | as_others, 0) != 0) return {};
    return attributes.write(path, layout_name, lustre_layout(wanted));
}

}  // namespace sluice
