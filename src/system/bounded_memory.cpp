// Parts begin at multiples of a cache line, so that threads that fill two of them do not meet in
// one. See bounded_memory.hpp.
#include "system/bounded_memory.hpp"

#include "base/round_up.hpp"
#include "system/page_bytes.hpp"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14.
#endif

namespace sluice {
namespace {

constexpr Bytes unit = 64;

}  // namespace

std::shared_ptr<BoundedMemory> BoundedMemory::create(Bytes bytes) { return create(-1, {0, bytes}); }

/// Large pages, where the system has them, make the first use of each part cheaper.
std::shared_ptr<BoundedMemory> BoundedMemory::create(int fd, Span part) {
    Bytes const bytes = part.bytes() / unit * unit;
    if (bytes <= 0) return nullptr;
    auto mapping = Mapping::of(fd, {part.begin, part.begin + bytes});
    if (!mapping || !mapping->open({0, bytes})) return nullptr;
    madvise(mapping->data(), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    return std::shared_ptr<BoundedMemory>(new BoundedMemory(std::move(*mapping), bytes));
}

BoundedMemory::BoundedMemory(Mapping mapping, Bytes bytes)
    : mapping_(std::move(mapping)),
      bytes_(bytes),
      free_(bytes) {}

std::optional<BoundedMemory::Part> BoundedMemory::take(Bytes bytes) {
    bytes = round_up(bytes, unit);
    std::lock_guard const lock(mutex_);
    auto const begin = free_.take(bytes);
    if (!begin) return std::nullopt;
    back(*begin + bytes);
    std::byte* const data = mapping_.data() + *begin;
    return Part{data, std::shared_ptr<void>(data, [self = shared_from_this(), begin = *begin,
                                                   bytes](void*) { self->give(begin, bytes); })};
}

/// All pages at once: one by one, as they are touched, takes ten times as long. Where the system
/// does not know the call, they are made as they are touched.
void BoundedMemory::back(Offset end) noexcept {
    if (end <= backed_) return;
    Offset const begin = backed_ / page_bytes() * page_bytes();
    madvise(mapping_.data() + begin, static_cast<std::size_t>(end - begin), MADV_POPULATE_WRITE);
    backed_ = end;
}

/// Ends the process where the system has no memory for the account: the part would be lost.
void BoundedMemory::give(Offset begin, Bytes bytes) noexcept {
    std::lock_guard const lock(mutex_);
    free_.give(begin, bytes);
}

}  // namespace sluice
