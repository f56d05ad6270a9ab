// Messages of FUSE, looked at. See message.hpp.
#include "device/fuse/message.hpp"

#include "device/fuse/store.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <limits>
#include <linux/fuse.h>

namespace sluice::device {
namespace {

constexpr std::uint32_t oldest_minor = 23;         // Linux 3.15; all arguments have today's layout.
constexpr std::size_t oldest_init_bytes = 16;      // fuse_init_in before Linux 5.17
constexpr std::uint32_t init_extended = 1U << 30;  // FUSE_INIT_EXT, since Linux 5.17

enum class Rest { nothing, name, two_names, name_and_target, data, forgets };

/// What follows the header of a request.
struct Shape {
    std::uint32_t opcode;
    std::size_t fixed;
    Rest rest;
};

constexpr Shape shapes[] = {
    {FUSE_LOOKUP, 0, Rest::name},
    {FUSE_FORGET, sizeof(fuse_forget_in), Rest::nothing},
    {FUSE_BATCH_FORGET, sizeof(fuse_batch_forget_in), Rest::forgets},
    {FUSE_GETATTR, sizeof(fuse_getattr_in), Rest::nothing},
    {FUSE_SETATTR, sizeof(fuse_setattr_in), Rest::nothing},
    {FUSE_READLINK, 0, Rest::nothing},
    {FUSE_SYMLINK, 0, Rest::name_and_target},
    {FUSE_MKNOD, sizeof(fuse_mknod_in), Rest::name},
    {FUSE_MKDIR, sizeof(fuse_mkdir_in), Rest::name},
    {FUSE_UNLINK, 0, Rest::name},
    {FUSE_RMDIR, 0, Rest::name},
    {FUSE_RENAME, sizeof(fuse_rename_in), Rest::two_names},
    {FUSE_RENAME2, sizeof(fuse_rename2_in), Rest::two_names},
    {FUSE_LINK, sizeof(fuse_link_in), Rest::name},
    {FUSE_OPEN, sizeof(fuse_open_in), Rest::nothing},
    {FUSE_CREATE, sizeof(fuse_create_in), Rest::name},
    {FUSE_READ, sizeof(fuse_read_in), Rest::nothing},
    {FUSE_WRITE, sizeof(fuse_write_in), Rest::data},
    {FUSE_RELEASE, sizeof(fuse_release_in), Rest::nothing},
    {FUSE_FSYNC, sizeof(fuse_fsync_in), Rest::nothing},
    {FUSE_STATFS, 0, Rest::nothing},
    {FUSE_OPENDIR, sizeof(fuse_open_in), Rest::nothing},
    {FUSE_READDIR, sizeof(fuse_read_in), Rest::nothing},
    {FUSE_RELEASEDIR, sizeof(fuse_release_in), Rest::nothing},
};

constexpr Verdict serve{Verdict::Kind::serve, 0, ""};
Verdict refuse(int error) { return {Verdict::Kind::refuse, error, ""}; }
Verdict end(char const* why) { return {Verdict::Kind::end, 0, why}; }

/// A copy: a message need not be aligned.
template <class Argument> Argument argument_of(std::string_view arguments) {
    Argument result{};
    arguments.copy(reinterpret_cast<char*>(&result), sizeof result);
    return result;
}

/// Takes a string that ends with NUL off the front; false if none ends there.
bool take(std::string_view& rest, std::string_view& string) {
    auto const length = rest.find('\0');
    if (length == std::string_view::npos) return false;
    string = rest.substr(0, length);
    rest.remove_prefix(length + 1);
    return true;
}

Verdict strings(Rest kind, std::string_view rest) {
    std::string_view first, second;
    bool const two = kind != Rest::name;
    if (!take(rest, first) || (two && !take(rest, second)) || !rest.empty())
        return end("names that do not end with the message");
    if (int const error = error_of_name(first); error != 0) return refuse(error);
    if (kind == Rest::two_names) {
        if (int const error = error_of_name(second); error != 0) return refuse(error);
    }
    if (kind == Rest::name_and_target && second.empty()) return refuse(EINVAL);
    return second.size() < PATH_MAX ? serve : refuse(ENAMETOOLONG);
}

/// Of a read or a write.
bool in_range(std::uint64_t offset, std::uint64_t bytes) {
    constexpr auto end_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return bytes <= request_bytes_max && offset <= end_max - bytes;
}

Verdict rest_of(Shape const& shape, std::string_view arguments) {
    std::string_view const rest = arguments.substr(shape.fixed);
    switch (shape.rest) {
    case Rest::nothing:
        return serve;
    case Rest::data: {
        auto const write = argument_of<fuse_write_in>(arguments);
        if (write.size != rest.size()) return end("a write of another size than its data");
        return in_range(write.offset, write.size) ? serve : refuse(EFBIG);
    }
    case Rest::forgets: {
        std::uint64_t const count = argument_of<fuse_batch_forget_in>(arguments).count;
        return count * sizeof(fuse_forget_one) == rest.size()
                   ? serve
                   : end("another number of inodes to forget than it says");
    }
    default:
        return strings(shape.rest, rest);
    }
}

Verdict numbers_of(std::uint32_t opcode, std::string_view arguments) {
    if (opcode == FUSE_READ || opcode == FUSE_READDIR) {
        auto const read = argument_of<fuse_read_in>(arguments);
        return in_range(read.offset, read.size) ? serve : refuse(EINVAL);
    }
    if (opcode == FUSE_SETATTR) {
        auto const wanted = argument_of<fuse_setattr_in>(arguments);
        bool const sized = (wanted.valid & FATTR_SIZE) != 0;
        return !sized || in_range(wanted.size, 0) ? serve : refuse(EFBIG);
    }
    return serve;
}

Verdict first_message(std::uint32_t opcode, std::string_view arguments) {
    if (opcode != FUSE_INIT || arguments.size() < oldest_init_bytes)
        return end("not FUSE: the first message is another");
    auto const init = argument_of<fuse_init_in>(arguments);
    if (init.major != FUSE_KERNEL_VERSION || init.minor < oldest_minor)
        return end("another version of FUSE");
    if ((init.flags & init_extended) != 0 && arguments.size() < sizeof init)
        return end("a first message that is too short");
    return serve;
}

}  // namespace

int error_of_name(std::string_view name) {
    if (name.empty() || name == "." || name == "..") return EINVAL;
    if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
        return EINVAL;
    return name.size() <= NAME_MAX ? 0 : ENAMETOOLONG;
}

Verdict MessageCheck::operator()(char const* message, std::size_t bytes) {
    std::string_view const whole(message, bytes);
    if (bytes < sizeof(fuse_in_header)) return end("a message without a header");
    auto const header = argument_of<fuse_in_header>(whole);
    if (header.len != bytes) return end("another length than it says");
    std::string_view const arguments = whole.substr(sizeof header);
    if (!initialised_) {
        Verdict const first = first_message(header.opcode, arguments);
        initialised_ = first.kind == Verdict::Kind::serve;
        return first;
    }
    if (header.opcode == FUSE_INIT) return end("a second beginning");
    if (header.opcode == FUSE_DESTROY) return end("");
    auto const* const shape = std::ranges::find(shapes, header.opcode, &Shape::opcode);
    // This includes interrupts, which libfuse would keep until their request comes.
    if (shape == std::end(shapes)) return refuse(ENOSYS);
    if (arguments.size() < shape->fixed) return end("a message that is too short");
    Verdict const rest = rest_of(*shape, arguments);
    return rest.kind == Verdict::Kind::serve ? numbers_of(header.opcode, arguments) : rest;
}

}  // namespace sluice::device
