// Copy loops, specialised for the shapes of pieces and for the element sizes of real programs: a
// memcpy of a size known to the compiler is a few moves, a general one is a call.
#include "base/copy.hpp"

#include "base/walk_both.hpp"

namespace sluice {
namespace {

/// Where the pieces of a run begin.
template <class Byte> struct Strided {
    Byte* first;
    Offset stride;
    Byte* operator()(std::int64_t piece) const noexcept { return first + piece * stride; }
};

/// Where the pieces of a list begin.
template <class Byte> struct Listed {
    Byte* base;
    std::int32_t const* places;
    Byte* operator()(std::int64_t piece) const noexcept { return base + places[piece]; }
};

template <std::size_t length, class To, class From>
void copy_equal(To to, From from, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i) copy_fixed<length>(to(i), from(i));
}

/// `count` pieces of `length` bytes.
template <class To, class From>
void copy_pieces(To to, From from, std::int64_t count, Bytes length) noexcept {
    switch (length) {
    case 4:
        return copy_equal<4>(to, from, count);
    case 8:
        return copy_equal<8>(to, from, count);
    case 16:
        return copy_equal<16>(to, from, count);
    case 24:
        return copy_equal<24>(to, from, count);
    case 32:
        return copy_equal<32>(to, from, count);
    case 40:
        return copy_equal<40>(to, from, count);  // Five doubles a cell: BTIO.
    case 64:
        return copy_equal<64>(to, from, count);
    case 128:
        return copy_equal<128>(to, from, count);
    default:
        for (std::int64_t i = 0; i < count; ++i) {
            copy_piece(to(i), from(i), static_cast<std::size_t>(length));
        }
    }
}

void scatter_unequal(std::int32_t const* places, std::uint16_t const* lengths, std::int64_t count,
                     std::byte* to, std::byte const* from) noexcept {
    for (std::int64_t i = 0; i < count; from += lengths[i++]) {
        copy_piece(to + places[i], from, lengths[i]);
    }
}

void gather_unequal(std::int32_t const* places, std::uint16_t const* lengths, std::int64_t count,
                    std::byte* to, std::byte const* from) noexcept {
    for (std::int64_t i = 0; i < count; to += lengths[i++]) {
        copy_piece(to, from + places[i], lengths[i]);
    }
}

/// From dense bytes to pieces.
void scatter_dense(Pieces const& p, std::byte* to, std::byte const* from) noexcept {
    if (p.lengths != nullptr) {
        scatter_unequal(p.places, p.lengths, p.count, to, from);
    } else if (p.is_run()) {
        copy_pieces(Strided<std::byte>{to, p.stride}, Strided<std::byte const>{from, p.length},
                    p.count, p.length);
    } else {
        copy_pieces(Listed<std::byte>{to, p.places}, Strided<std::byte const>{from, p.length},
                    p.count, p.length);
    }
}

/// From pieces to dense bytes.
void gather_dense(Pieces const& p, std::byte* to, std::byte const* from) noexcept {
    if (p.lengths != nullptr) {
        gather_unequal(p.places, p.lengths, p.count, to, from);
    } else if (p.is_run()) {
        copy_pieces(Strided<std::byte>{to, p.length}, Strided<std::byte const>{from, p.stride},
                    p.count, p.length);
    } else {
        copy_pieces(Strided<std::byte>{to, p.length}, Listed<std::byte const>{from, p.places},
                    p.count, p.length);
    }
}

/// Pieces of both sides, equal in number and length.
void copy_matching(Pieces const& t, std::byte* to, Pieces const& s,
                   std::byte const* from) noexcept {
    Strided<std::byte> const to_run{to, t.stride};
    Strided<std::byte const> const from_run{from, s.stride};
    Listed<std::byte> const to_list{to, t.places};
    Listed<std::byte const> const from_list{from, s.places};
    if (t.is_run() && s.is_run()) return copy_pieces(to_run, from_run, t.count, t.length);
    if (t.is_run()) return copy_pieces(to_run, from_list, t.count, t.length);
    if (s.is_run()) return copy_pieces(to_list, from_run, t.count, t.length);
    return copy_pieces(to_list, from_list, t.count, t.length);
}

struct Copied {
    std::byte* to;
    std::byte const* from;

    void matching(Pieces const& t, Pieces const& s) const noexcept {
        copy_matching(t, to + t.offset, s, from + s.offset);
    }
    void scatter(Pieces const& t, Offset source) const noexcept {
        scatter_dense(t, to + t.offset, from + source);
    }
    void gather(Offset target, Pieces const& s) const noexcept {
        gather_dense(s, to + target, from + s.offset);
    }
};

}  // namespace

void copy(Cursor target, std::byte* to, Cursor source, std::byte const* from,
          Bytes bytes) noexcept {
    walk_both(target, source, bytes, Copied{to, from});
}

}  // namespace sluice
