// The program's operator new. See allocations.hpp.
#include "study/exchange/allocations.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

sluice::tools::Allocations all;  // One thread: the simulation's.

void* counted(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    all.bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
    ++all.count;
    return memory;
}

void release(void* memory) noexcept {
    if (memory != nullptr) all.bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
    std::free(memory);
}

}  // namespace

sluice::tools::Allocations const& sluice::tools::allocations() noexcept { return all; }

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes > 0 ? bytes : 1)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    auto const unit = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}

// The library's own nothrow form calls the one above, but the address sanitizer's allocates by
// itself, and std::stable_sort takes its buffer so: then new and delete would not be a pair.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    try {
        return operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::nothrow_t const&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
