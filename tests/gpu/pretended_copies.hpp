// What streams of the pretended driver carry out: copies, and its few kernels, which are functions
// of its own that reach just the memory that a kernel would.
#pragma once
#include "base/rows.hpp"
#include "pretended_memory.hpp"

#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

namespace pretended {

/// As what the caller names an address.
enum class Named : std::uint8_t { as_device, as_host, as_either };

/// One side of a copy.
struct Place {
    std::byte* at = nullptr;
    bool pageable = false;  ///< The host's, and not registered.
    bool on_device = false;
};

class Reach {
public:
    Reach(Memory const& memory, bool mapped_apart) : memory_(memory), mapped_apart_(mapped_apart) {}

    /// A side of a copy in this context; empty where CUDA takes the arguments for wrong: memory
    /// that was freed, ranges that leave what was allocated, ranges of which only a part is
    /// registered.
    [[nodiscard]] std::optional<Place> locate(CUctx_st const* context, Address at,
                                              std::size_t bytes, Named named) const {
        Address const near = near_of(at);
        if (bytes == 0) return Place{};
        auto const range = memory_.find(near);
        if (!range) {
            bool const wrong = named == Named::as_device || memory_.is_in_arena(near) ||
                               at != near || memory_.meets_any(near, bytes);
            return wrong ? std::nullopt : std::optional(Place{pointer(near), true, false});
        }
        bool const on_device = range->kind == Kind::device;
        if (!range->holds(near, bytes) || (on_device && named == Named::as_host)) return {};
        bool const pinned = range->kind != Kind::registered || is_pinned_in(context, *range);
        return Place{range->reach + (near - range->begin), !pinned, on_device};
    }
    /// What a kernel in this context finds at an address; null: it must not go there.
    [[nodiscard]] std::byte* reach(CUctx_st const* context, Address at, std::size_t bytes) const {
        Address const near = near_of(at);
        if (!last_.holds(near, bytes)) {
            auto const range = memory_.find(near);
            if (!range || !goes_on(context, *range, near + bytes)) return nullptr;
            last_ = *range;
        }
        bool const apart = mapped_apart_ && last_.kind == Kind::registered;
        if (apart != (at != near) || !may_reach(context, last_)) return nullptr;
        return last_.reach + (near - last_.begin);
    }
    /// The address of registered memory, or itself.
    static Address near_of(Address at) { return at & ~Memory::apart; }

private:
    static bool is_pinned_in(CUctx_st const* context, Range const& range) {
        return range.context == context || (range.flags & CU_MEMHOSTREGISTER_PORTABLE) != 0;
    }
    /// To a kernel, pages that were registered one after the other are as if they were registered
    /// at once; only copies must not cross the border.
    [[nodiscard]] bool goes_on(CUctx_st const* context, Range const& range, Address end) const {
        for (Address at = range.begin + range.bytes; at < end;) {
            auto const next = memory_.find(at);
            bool const goes_on = range.kind == Kind::registered && next &&
                                 next->kind == Kind::registered && may_reach(context, *next);
            if (!goes_on) return false;
            at = next->begin + next->bytes;
        }
        return true;
    }
    static bool may_reach(CUctx_st const* context, Range const& range) {
        if (range.kind == Kind::device) return range.context == context;
        if (range.kind != Kind::registered) return true;
        return is_pinned_in(context, range) && (range.flags & CU_MEMHOSTREGISTER_DEVICEMAP) != 0;
    }

    Memory const& memory_;
    bool mapped_apart_;
    mutable Range last_;  ///< Of this one's kernel; rows mostly go on in the same memory.
};

/// Rows of a copy in two dimensions; one row for others.
struct Copy {
    Place to, from;
    std::size_t width = 0, height = 1, to_pitch = 0, from_pitch = 0;

    [[nodiscard]] bool is_pageable() const { return to.pageable || from.pageable; }
    [[nodiscard]] CUresult run() const {
        for (std::size_t i = 0; width > 0 && i < height; ++i)
            std::memmove(to.at + i * to_pitch, from.at + i * from_pitch, width);
        return CUDA_SUCCESS;
    }
};

/// The kernels' parameters, as they were when the kernel was launched.
using Parameters = std::vector<std::uint64_t>;
using Kernel = CUresult (*)(Reach const&, CUctx_st const*, Parameters const&);

inline CUresult copy_row(Reach const& to, Reach const& from, CUctx_st const* context,
                         sluice::Rows const& rows) {
    auto const length = static_cast<std::size_t>(rows.length);
    for (std::int64_t i = 0; rows.length > 0 && i < rows.count; ++i) {
        auto const target = static_cast<Address>(rows.target + i * rows.target_stride);
        auto const source = static_cast<Address>(rows.source + i * rows.source_stride);
        std::byte* const there = to.reach(context, target, length);
        std::byte const* const here = from.reach(context, source, length);
        if (!there || !here) return CUDA_ERROR_ILLEGAL_ADDRESS;
        std::memmove(there, here, length);
    }
    return rows.length < 0 ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/// sluice_copy_rows(the address of a table of Rows, how many these are).
inline CUresult copy_rows(Reach const& reach, CUctx_st const* context,
                          Parameters const& parameters) {
    std::size_t const bytes = parameters[1] * sizeof(sluice::Rows);
    std::byte const* const table = reach.reach(context, parameters[0], bytes);
    if (bytes > 0 && !table) return CUDA_ERROR_ILLEGAL_ADDRESS;
    Reach const from = reach;
    for (std::size_t at = 0; at < bytes; at += sizeof(sluice::Rows)) {
        sluice::Rows rows;
        std::memcpy(&rows, table + at, sizeof rows);
        if (CUresult const code = copy_row(reach, from, context, rows)) return code;
    }
    return CUDA_SUCCESS;
}

/// test_busy(microseconds), and sluice_bench_busy(rounds, where nothing is written).
inline CUresult be_busy(Reach const&, CUctx_st const*, Parameters const& parameters) {
    std::this_thread::sleep_for(std::chrono::microseconds(parameters[0]));
    return CUDA_SUCCESS;
}

/// test_fill(address, bytes, seed).
inline CUresult fill(Reach const& reach, CUctx_st const* context, Parameters const& parameters) {
    std::byte* const at = reach.reach(context, parameters[0], parameters[1]);
    if (!at) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (std::size_t i = 0; i < parameters[1]; ++i) at[i] = std::byte{test_byte(parameters[2], i)};
    return CUDA_SUCCESS;
}

struct KnownKernel {
    std::string_view name;
    std::size_t parameters;
    Kernel run;
};
inline constexpr KnownKernel known_kernels[] = {{"sluice_copy_rows", 2, copy_rows},
                                                {"test_busy", 1, be_busy},
                                                {"sluice_bench_busy", 2, be_busy},
                                                {"test_fill", 3, fill}};

}  // namespace pretended
