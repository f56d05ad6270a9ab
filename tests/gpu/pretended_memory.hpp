// The memory of the pretended driver. Bytes of a device lie in a file in memory that is mapped
// twice: where the program has its address no access is allowed, so that each touch is a crash and
// each system call fails; the driver itself uses the other mapping.
#pragma once
#include "cuda_api.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace pretended {

using Address = std::uint64_t;

inline std::byte* pointer(Address at) { return reinterpret_cast<std::byte*>(at); }
inline Address address(void const* at) { return reinterpret_cast<Address>(at); }

enum class Kind : std::uint8_t { device, managed, host, registered };

struct Range {
    Address begin = 0;
    std::size_t bytes = 0;
    Kind kind = Kind::device;
    CUctx_st* context = nullptr;
    unsigned flags = 0;
    std::byte* reach = nullptr;  ///< Where the driver finds the first byte.

    [[nodiscard]] bool holds(Address at, std::size_t length) const {
        return at >= begin && length <= bytes && at - begin <= bytes - length;
    }
};

class Memory {
public:
    static constexpr std::size_t page = 4096;
    /// Registered memory has its device's addresses so far away where these are apart.
    static constexpr Address apart = Address{1} << 60;

    Memory() : file_(memfd_create("pretended device", MFD_CLOEXEC)) {
        if (file_ < 0 || ftruncate(file_, arena_bytes) != 0) return;
        outside_ = map(PROT_NONE), inside_ = map(PROT_READ | PROT_WRITE);
    }

    /// What lies there; empty for what the driver does not know.
    [[nodiscard]] std::optional<Range> find(Address at) const {
        std::lock_guard const lock(mutex_);
        return find_in(ranges_, at);
    }
    [[nodiscard]] std::optional<Range> find_freed(Address at) const {
        std::lock_guard const lock(mutex_);
        return find_in(freed_, at);
    }
    /// Whether it is, or was, a device's.
    [[nodiscard]] bool is_in_arena(Address at) const {
        return outside_ && at >= address(outside_) && at - address(outside_) < arena_bytes;
    }
    [[nodiscard]] bool meets_any(Address at, std::size_t bytes) const {
        std::lock_guard const lock(mutex_);
        return meets(at, at + bytes);
    }

    /// Null where there is none.
    Address allocate(Kind kind, CUctx_st* context, std::size_t bytes, unsigned flags) {
        if (kind == Kind::device) return allocate_on_device(context, bytes);
        void* const at = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return 0;
        add({address(at), bytes, kind, context, flags, static_cast<std::byte*>(at)});
        return address(at);
    }
    /// False where none of these kinds begins there.
    bool free(Address begin, Kind one, Kind other) {
        std::lock_guard const lock(mutex_);
        auto const found = ranges_.find(begin);
        if (found == ranges_.end()) return false;
        if (found->second.kind != one && found->second.kind != other) return false;
        release(found->second);
        ranges_.erase(found);
        return true;
    }
    void free_all_of(CUctx_st const* context) {
        std::lock_guard const lock(mutex_);
        std::erase_if(ranges_, [&](auto const& entry) {
            if (entry.second.context != context) return false;
            release(entry.second);
            return true;
        });
    }

    /// Registers memory of the host; its pages must be there, and none of them registered.
    CUresult hold(CUctx_st* context, void* at, std::size_t bytes, unsigned flags) {
        Address const begin = address(at) / page * page;
        std::size_t const length = whole_pages(address(at) + bytes) - begin;
        if (is_in_arena(begin) || !is_mapped(begin, length)) return CUDA_ERROR_INVALID_VALUE;
        std::lock_guard const lock(mutex_);
        if (meets(begin, begin + length)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        ranges_[address(at)] = {address(at), bytes, Kind::registered,
                                context,     flags, static_cast<std::byte*>(at)};
        return CUDA_SUCCESS;
    }

private:
    using Ranges = std::map<Address, Range>;
    static constexpr std::size_t arena_bytes = std::size_t{1} << 38;

    static std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }
    static std::optional<Range> find_in(Ranges const& ranges, Address at) {
        auto const next = ranges.upper_bound(at);
        if (next == ranges.begin()) return {};
        Range const& found = std::prev(next)->second;
        return at - found.begin < found.bytes ? std::optional(found) : std::nullopt;
    }
    static bool is_mapped(Address begin, std::size_t bytes) {
        std::vector<unsigned char> resident(bytes / page);
        return mincore(pointer(begin), bytes, resident.data()) == 0;
    }
    [[nodiscard]] std::byte* map(int access) const {
        void* const at = mmap(nullptr, arena_bytes, access, MAP_SHARED | MAP_NORESERVE, file_, 0);
        if (at == MAP_FAILED) return nullptr;
        madvise(at, arena_bytes, MADV_DONTDUMP);
        return static_cast<std::byte*>(at);
    }
    void add(Range const& range) {
        std::lock_guard const lock(mutex_);
        ranges_[range.begin] = range;
    }
    /// Whether a range of which a page lies between these is known.
    [[nodiscard]] bool meets(Address begin, Address end) const {
        auto const next = ranges_.lower_bound(end);
        if (next == ranges_.begin()) return false;
        Range const& last = std::prev(next)->second;
        return last.begin + last.bytes > begin;
    }

    /// Addresses go up, so that those of freed memory are not soon another's. An unused page is
    /// between all, and few begin at a page.
    Address allocate_on_device(CUctx_st* context, std::size_t bytes) {
        std::size_t const needed = whole_pages(bytes) + 2 * page;
        if (!outside_ || !inside_ || needed > arena_bytes) return 0;
        std::lock_guard const lock(mutex_);
        if (!find_place(needed)) return 0;
        std::size_t const at = next_ + 512 * (++count_ % 8);
        next_ += needed;
        freed_.erase(address(outside_ + at));
        ranges_[address(outside_ + at)] = {
            address(outside_ + at), bytes, Kind::device, context, 0, inside_ + at};
        return address(outside_ + at);
    }
    /// Sets `next_` to where so many bytes are free.
    bool find_place(std::size_t needed) {
        for (int rounds = 0; rounds < 2;) {
            if (next_ + needed > arena_bytes) {
                next_ = 0, ++rounds;
                continue;
            }
            Address const begin = address(outside_ + next_);
            if (!meets(begin, begin + needed)) return true;
            Range const& last = std::prev(ranges_.lower_bound(begin + needed))->second;
            next_ = whole_pages(last.begin + last.bytes - address(outside_)) + page;
        }
        return false;
    }
    void release(Range const& range) {
        if (range.kind == Kind::device) {
            freed_[range.begin] = range;
            Address const first = whole_pages(address(range.reach));
            Address const end = (address(range.reach) + range.bytes) / page * page;
            if (end > first) madvise(pointer(first), end - first, MADV_REMOVE);
        } else if (range.kind != Kind::registered) {
            munmap(pointer(range.begin), whole_pages(range.bytes));
        }
    }

    int file_;
    std::byte *outside_ = nullptr, *inside_ = nullptr;
    std::size_t next_ = 0, count_ = 0;
    mutable std::mutex mutex_;
    Ranges ranges_, freed_;
};

}  // namespace pretended
