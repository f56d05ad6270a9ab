// How a file is opened past the page cache, and what the system demands of such requests. See
// direct_io.hpp.
#include "storage/direct_io.hpp"

#include "base/round_up.hpp"
#include "system/page_bytes.hpp"

#include <algorithm>
#include <bit>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr Bytes page_bytes_least = 4096;
/// More has no use: batches would hold no whole unit.
constexpr Bytes unit_max = Bounce::bytes_max;

/// What all devices take.
Bytes usual_unit() noexcept { return std::max(page_bytes_least, page_bytes()); }

struct Demands {
    Bytes offset = 1, memory = 1;
};

/// Nothing: the file system says that it has no direct I/O for the file. Where it says nothing,
/// pages are what all devices take.
std::optional<Demands> demands_of(int fd) noexcept {
    Demands found{usual_unit(), usual_unit()};
#ifdef STATX_DIOALIGN
    struct statx about{};
    bool const told = statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
                      (about.stx_mask & STATX_DIOALIGN) != 0;
    if (told && about.stx_dio_offset_align == 0) return std::nullopt;
    if (told) found = {about.stx_dio_offset_align, about.stx_dio_mem_align};
#else
    static_cast<void>(fd);
#endif
    auto const whole = [](Bytes value) {
        return static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(value)));
    };
    // The memory's demand also holds for the lengths of its ranges, which are blocks.
    return Demands{std::max(whole(found.offset), usual_unit()),
                   std::max(whole(found.memory), whole(found.offset))};
}

bool is_regular(int fd) noexcept {
    struct stat about{};
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

Front front_of(Offset offset, Bytes bytes, Bytes unit) noexcept {
    Bytes const past = offset % unit;
    if (past != 0) return {std::min(bytes, unit - past), false};
    Bytes const whole = bytes - bytes % unit;
    return whole > 0 ? Front{whole, true} : Front{bytes, false};
}

std::unique_ptr<DirectIo> DirectIo::open(int fd, AccessMode mode, Faults* faults) {
    if (faults && faults->refusal(Faults::Ability::open_direct_io) != 0) return nullptr;
    Descriptor direct = open_past_cache(fd, mode);
    auto const demands = is_regular(direct.get()) ? demands_of(direct.get()) : std::nullopt;
    if (!demands || demands->offset > unit_max) return nullptr;
    return std::unique_ptr<DirectIo>(
        new DirectIo(std::move(direct), fd, demands->offset, demands->memory));
}

DirectIo::DirectIo(Descriptor descriptor, int cached_fd, Bytes unit, Bytes memory_unit) noexcept
    : descriptor_(std::move(descriptor)),
      cached_fd_(cached_fd),
      unit_(unit),
      memory_unit_(memory_unit) {
    posix_fadvise(cached_fd_, 0, 0, POSIX_FADV_RANDOM);
}

void DirectIo::refused() noexcept {
    granted_ = false;
    posix_fadvise(cached_fd_, 0, 0, POSIX_FADV_NORMAL);
}

bool DirectIo::reaches(iovec const* vectors, int count) const noexcept {
    std::uintptr_t bits = 0;
    for (int i = 0; i < count; ++i) {
        bits |= reinterpret_cast<std::uintptr_t>(vectors[i].iov_base) | vectors[i].iov_len;
    }
    return bits % static_cast<std::uintptr_t>(memory_unit_) == 0;
}

Front DirectIo::before_end(Offset offset, Front front) const noexcept {
    struct stat about{};
    if (fstat(fd(), &about) != 0) return {front.bytes, false};
    Bytes const whole = about.st_size - about.st_size % unit_ - offset;
    return whole > 0 ? Front{std::min(front.bytes, whole), true} : Front{front.bytes, false};
}

void DirectIo::count(bool direct, bool bounced) noexcept {
    (direct ? direct_ : cached_).fetch_add(1, std::memory_order_relaxed);
    if (bounced) bounced_.fetch_add(1, std::memory_order_relaxed);
}

bool Bounce::reserve(Bytes bytes, Bytes unit) noexcept {
    if (bytes <= capacity_) return true;
    Bytes const whole = round_up(bytes, unit);
    memory_.reset(static_cast<std::byte*>(
        std::aligned_alloc(static_cast<std::size_t>(unit), static_cast<std::size_t>(whole))));
    capacity_ = memory_ ? whole : 0;
    return memory_ != nullptr;
}

}  // namespace sluice
