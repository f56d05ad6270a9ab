// How pages are registered and windows kept. See host_memory.hpp.
#include "gpu/host_memory.hpp"

#include "system/page_bytes.hpp"

#include <optional>
#include <utility>

namespace sluice {
namespace {

Span pages_around(std::span<std::byte> memory) noexcept {
    Offset const page = page_bytes();
    auto const begin = reinterpret_cast<Offset>(memory.data());
    Offset const end = begin + static_cast<Bytes>(memory.size());
    return {begin / page * page, (end + page - 1) / page * page};
}

}  // namespace

std::shared_ptr<HeldRanges const> HostMemory::held() const {
    std::lock_guard const lock(mutex_);
    return held_;
}

void HostMemory::hold(GpuContext context, std::span<std::byte> memory) {
    if (memory.empty()) return;
    Span const pages = pages_around(memory);
    if (held()->unknown_parts(pages).empty()) return;
    std::lock_guard const one(registering_);
    for (Span const part : held()->unknown_parts(pages)) note(part, register_pages(context, part));
}

bool HostMemory::register_pages(GpuContext context, Span pages) {
    auto* const begin = reinterpret_cast<std::byte*>(pages.begin);
    return !driver_.register_host(context, {begin, static_cast<std::size_t>(pages.bytes())})
                .failed();
}

/// Readers keep what they have.
void HostMemory::note(Span pages, bool is_registered) {
    auto more = std::make_shared<HeldRanges>(*held());
    more->add(pages, is_registered);
    std::lock_guard const lock(mutex_);
    held_ = std::move(more);
}

std::shared_ptr<std::byte> HostMemory::take_window(GpuContext context) {
    std::byte* window = take_idle_window();
    if (!window) window = make_window(context);
    if (!window) return nullptr;
    return {window, [this](std::byte* taken) { give_back(taken); }};
}

std::byte* HostMemory::take_idle_window() {
    std::lock_guard const lock(mutex_);
    if (idle_windows_.empty()) return nullptr;
    std::byte* const window = idle_windows_.back();
    idle_windows_.pop_back();
    return window;
}

std::byte* HostMemory::make_window(GpuContext context) {
    std::lock_guard const one(registering_);
    if (refuses_windows_) return nullptr;
    Span const range{0, window_bytes};
    std::optional<Mapping> made = Mapping::of(-1, range);
    if (!made || !made->open(range)) return nullptr;
    std::byte* const window = made->data();
    auto const begin = reinterpret_cast<Offset>(window);
    Span const pages{begin, begin + window_bytes};
    refuses_windows_ = !register_pages(context, pages);
    if (refuses_windows_) return nullptr;
    note(pages, true);
    std::lock_guard const lock(mutex_);
    windows_.push_back(std::move(*made));
    idle_windows_.reserve(windows_.size());
    return window;
}

void HostMemory::give_back(std::byte* window) noexcept {
    std::lock_guard const lock(mutex_);
    idle_windows_.push_back(window);  // There is room for all of them.
}

}  // namespace sluice
