// Copy loops, specialised for the element sizes of real programs: a memcpy of a size known to the
// compiler is a few moves, a general one is a call.
#include "core/copy.hpp"

namespace sluice {
namespace {

struct Strided {
    std::byte* target;
    std::byte const* source;
    Offset target_stride, source_stride;
    Bytes length;
    std::int64_t count;
};

template <std::size_t length> void copy_fixed(Strided const& s) noexcept {
    auto* target = s.target;
    auto* source = s.source;
    for (std::int64_t i = 0; i < s.count; ++i) {
        std::memcpy(target, source, length);
        target += s.target_stride;
        source += s.source_stride;
    }
}

void copy_any(Strided const& s) noexcept {
    auto* target = s.target;
    auto* source = s.source;
    for (std::int64_t i = 0; i < s.count; ++i) {
        std::memcpy(target, source, static_cast<std::size_t>(s.length));
        target += s.target_stride;
        source += s.source_stride;
    }
}

void copy(Strided const& s) noexcept {
    switch (s.length) {
    case 4:
        return copy_fixed<4>(s);
    case 8:
        return copy_fixed<8>(s);
    case 16:
        return copy_fixed<16>(s);
    case 32:
        return copy_fixed<32>(s);
    case 40:
        return copy_fixed<40>(s);  // Five doubles a cell: BTIO.
    case 64:
        return copy_fixed<64>(s);
    case 128:
        return copy_fixed<128>(s);
    default:
        return copy_any(s);
    }
}

}  // namespace

void copy_b_to_a(RunPair const& p, std::byte* target, std::byte const* source) noexcept {
    copy({target + p.a, source + p.b, p.stride_a, p.stride_b, p.length, p.count});
}

void copy_a_to_b(RunPair const& p, std::byte* target, std::byte const* source) noexcept {
    copy({target + p.b, source + p.a, p.stride_b, p.stride_a, p.length, p.count});
}

}  // namespace sluice
