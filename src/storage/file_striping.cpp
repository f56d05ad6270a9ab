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

/// The last one that was found to know none.
std::atomic<std::uint64_t> device_without{0};

/// Most layouts are short; of a long one the length is asked for. `error`: an errno; ENODATA where
/// there may be such an attribute, and none is, as of a folder without a layout of its own.
template <typename Get> std::vector<std::byte> whole(Get&& get, int& error) {
    std::vector<std::byte> bytes(4096);
    auto got = get(bytes.data(), bytes.size());
    if (got < 0 && errno == ERANGE) {
        got = get(nullptr, 0);
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        if (got > 0) got = get(bytes.data(), bytes.size());
    }
    error = got < 0 ? errno : 0;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

std::string folder_of(std::string const& path) {
    return std::filesystem::path(path).parent_path().string();
}

/// Lustre tells of no layout that it could not make, nor of one that the file had before.
Error difference(std::span<std::byte const> asked, std::span<std::byte const> found) {
    auto const [bytes, count] = parse_lustre_request(asked).value_or(Striping{});
    auto const has = parse_lustre_layout(found);
    bool const same = has && (bytes == 0 || has->stripe_bytes == bytes) &&
                      (count == 0 || has->stripe_count <= count);
    return same ? Error{}
                : Error{.status = Status::io, .what = "the file system has given it other ones"};
}

}  // namespace

std::vector<std::byte> SystemAttributes::read(int fd, char const* name) {
    if (device_ != 0 && device_ == device_without) return {};
    int error = 0;
    auto bytes =
        whole([&](void* to, std::size_t room) { return fgetxattr(fd, name, to, room); }, error);
    if (error == EOPNOTSUPP) device_without = device_;
    return bytes;
}

std::optional<std::vector<std::byte>> SystemAttributes::at(std::string const& path,
                                                           char const* name) {
    int error = 0;
    auto bytes = whole(
        [&](void* to, std::size_t room) { return getxattr(path.c_str(), name, to, room); }, error);
    if (error != 0 && error != ENODATA) return std::nullopt;
    return bytes;
}

Error SystemAttributes::write(std::string const& path, char const* name,
                              std::vector<std::byte> const& bytes) {
    return setxattr(path.c_str(), name, bytes.data(), bytes.size(), 0) == 0
               ? Error{}
               : system_error("setxattr", errno);
}

void SystemAttributes::remove(std::string const& path, char const* name) {
    removexattr(path.c_str(), name);
}

std::optional<Striping> striping_of(int fd, Attributes& attributes) {
    return parse_lustre_layout(attributes.read(fd, lustre_layout_name));
}

bool can_be_striped(std::string const& path, Attributes& attributes) {
    return attributes.at(folder_of(path), lustre_layout_name).has_value();
}

/// A file that mknod makes has no stripes until it is opened: Lustre's own way without its library,
/// by which tar restores layouts. Lustre tells of the layout that it has made of what was asked
/// for; who gives back the same bytes keeps any attribute, and spreads nothing.
Error make_striped(std::string const& path, Striping const& wanted, Attributes& attributes) {
    constexpr mode_t as_others = 0666;
    auto const of_folder = attributes.at(folder_of(path), lustre_layout_name);
    auto const asked = lustre_layout(wanted, of_folder.value_or(std::vector<std::byte>()));
    if (mknod(path.c_str(), S_IFREG | as_others, 0) != 0) return {};
    if (Error const error = attributes.write(path, lustre_layout_name, asked)) return error;
    auto const found = attributes.at(path, lustre_layout_name).value_or(std::vector<std::byte>());
    if (found != asked) return difference(asked, found);
    attributes.remove(path, lustre_layout_name);
    return {};
}

}  // namespace sluice
