// How the elements of a datatype are visited, and each form converted. See external32.hpp.
#include "base/external32.hpp"

#include "base/flatten.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstring>
#include <type_traits>

namespace sluice {
namespace {

enum class Kind : std::uint8_t { plain, has_sign, has_none, long_double };

/// One of the numbers of an element: its bytes in memory and in external32.
struct Number {
    std::uint8_t packed = 0, external = 0;
    Kind kind = Kind::plain;  ///< Plain: as long here as there.
};

using WideCharacter = std::conditional_t<sizeof(wchar_t) == 4, std::uint32_t, std::uint16_t>;

/// The second may be empty.
using Numbers = std::array<Number, 2>;

constexpr Number integer{4, 4};
constexpr Number long_integer{sizeof(long), 4, Kind::has_sign};
constexpr Number unsigned_long{sizeof(long), 4, Kind::has_none};
constexpr Number wide_character{sizeof(wchar_t), 2, Kind::has_none};
constexpr Number long_double{sizeof(long double), 16, Kind::long_double};

constexpr Numbers numbers_of(ElementForm form) noexcept {
    switch (form) {
    case ElementForm::unknown:
        return {};
    case ElementForm::bytes:
        return {Number{1, 1}};
    case ElementForm::number_2:
        return {Number{2, 2}};
    case ElementForm::number_4:
        return {Number{4, 4}};
    case ElementForm::number_8:
        return {Number{8, 8}};
    case ElementForm::number_16:
        return {Number{16, 16}};
    case ElementForm::long_integer:
        return {long_integer};
    case ElementForm::unsigned_long:
        return {unsigned_long};
    case ElementForm::wide_character:
        return {wide_character};
    case ElementForm::long_double:
        return {long_double};
    case ElementForm::complex_4:
        return {Number{4, 4}, Number{4, 4}};
    case ElementForm::complex_8:
        return {Number{8, 8}, Number{8, 8}};
    case ElementForm::complex_16:
        return {Number{16, 16}, Number{16, 16}};
    case ElementForm::complex_long_double:
        return {long_double, long_double};
    case ElementForm::value_2_and_int:
        return {Number{2, 2}, integer};
    case ElementForm::value_4_and_int:
        return {Number{4, 4}, integer};
    case ElementForm::value_8_and_int:
        return {Number{8, 8}, integer};
    case ElementForm::long_and_int:
        return {long_integer, integer};
    case ElementForm::long_double_and_int:
        return {long_double, integer};
    }
    return {};
}

/// Between the order of bytes here and external32's.
void copy_number(std::byte const* from, Bytes bytes, std::byte* to) noexcept {
    if constexpr (std::endian::native == std::endian::little)
        std::reverse_copy(from, from + bytes, to);
    else
        std::copy(from, from + bytes, to);
}

template <class T> T read(std::byte const* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// False if the value does not fit.
template <class From, class To> bool narrow(std::byte const* from, std::byte* to) noexcept {
    auto const value = read<From>(from);
    auto const narrow = static_cast<To>(value);
    copy_number(reinterpret_cast<std::byte const*>(&narrow), sizeof narrow, to);
    return static_cast<From>(narrow) == value;
}

template <class From, class To> void widen(std::byte const* from, std::byte* to) noexcept {
    From value;
    copy_number(from, sizeof value, reinterpret_cast<std::byte*>(&value));
    auto const wide = static_cast<To>(value);
    std::memcpy(to, &wide, sizeof wide);
}

#if LDBL_MANT_DIG == 64  // That of x87 in 16 bytes; external32 has IEEE's of 128 bits.
__extension__ using Quad = __float128;
#else
using Quad = long double;
#endif

bool write_number(Number const& number, std::byte const* from, std::byte* to) noexcept {
    switch (number.kind) {
    case Kind::plain:
        copy_number(from, number.packed, to);
        return true;
    case Kind::has_sign:
        return narrow<long, std::int32_t>(from, to);
    case Kind::has_none:
        return number.external == 2 ? narrow<WideCharacter, std::uint16_t>(from, to)
                                    : narrow<unsigned long, std::uint32_t>(from, to);
    case Kind::long_double: {
        auto const value = static_cast<Quad>(read<long double>(from));
        copy_number(reinterpret_cast<std::byte const*>(&value), number.external, to);
        return true;
    }
    }
    return false;
}

void read_number(Number const& number, std::byte const* from, std::byte* to) noexcept {
    switch (number.kind) {
    case Kind::plain:
        return copy_number(from, number.packed, to);
    case Kind::has_sign:
        return widen<std::int32_t, long>(from, to);
    case Kind::has_none:
        return number.external == 2 ? widen<std::uint16_t, WideCharacter>(from, to)
                                    : widen<std::uint32_t, unsigned long>(from, to);
    case Kind::long_double: {
        Quad value;
        copy_number(from, number.external, reinterpret_cast<std::byte*>(&value));
        auto const here = static_cast<long double>(value);
        std::memset(to, 0, number.packed);  // The padding of an x87 number.
        std::memcpy(to, &here, LDBL_MANT_DIG == 64 ? 10 : sizeof here);
        return;
    }
    }
}

constexpr Bytes packed_size(Numbers const& n) noexcept { return n[0].packed + n[1].packed; }
constexpr Bytes external_size(Numbers const& n) noexcept { return n[0].external + n[1].external; }

/// A number as long as in memory, or a complex number of two such.
constexpr bool is_plain(ElementForm form) noexcept {
    switch (form) {
    case ElementForm::bytes:
    case ElementForm::number_2:
    case ElementForm::number_4:
    case ElementForm::number_8:
    case ElementForm::number_16:
    case ElementForm::complex_4:
    case ElementForm::complex_8:
    case ElementForm::complex_16:
        return true;
    default:
        return false;
    }
}

/// `count` elements of one form. False if a number does not fit.
bool write_elements(ElementForm form, std::int64_t count, std::byte const* packed,
                    std::byte* external) noexcept {
    if (form == ElementForm::bytes) {
        std::copy(packed, packed + count, external);
        return true;
    }
    bool fit = true;
    Numbers const numbers = numbers_of(form);
    for (std::int64_t i = 0; i < count; ++i) {
        for (Number const& number : numbers) {
            if (number.packed == 0) continue;
            fit &= write_number(number, packed, external);
            packed += number.packed, external += number.external;
        }
    }
    return fit;
}

void read_elements(ElementForm form, std::int64_t count, std::byte const* external,
                   std::byte* packed) noexcept {
    if (form == ElementForm::bytes) {
        std::copy(external, external + count, packed);
        return;
    }
    Numbers const numbers = numbers_of(form);
    for (std::int64_t i = 0; i < count; ++i) {
        for (Number const& number : numbers) {
            if (number.packed == 0) continue;
            read_number(number, external, packed);
            packed += number.packed, external += number.external;
        }
    }
}

std::size_t member_part(TypeTree const& structure, std::int64_t member) noexcept {
    return structure.which.empty() ? 0 : structure.which[static_cast<std::size_t>(member)];
}

}  // namespace

Bytes external32_bytes(ElementForm form) noexcept { return external_size(numbers_of(form)); }

External32::Node::Node(TypeTree const& its_type_tree) : type_tree(&its_type_tree) {
    if (type_tree->maker == Maker::element) {
        Numbers const numbers = numbers_of(type_tree->form);
        packed = packed_size(numbers), external = external_size(numbers);
        is_known = packed > 0 && packed == type_tree->size;
        is_plain = sluice::is_plain(type_tree->form);
        return;
    }
    is_plain = type_tree->maker != Maker::structure;
    for (auto const& part : type_tree->parts) {
        parts.emplace_back(*part);
        is_known = is_known && parts.back().is_known;
        is_plain = is_plain && parts.back().is_plain;
    }
    if (type_tree->maker == Maker::structure) {
        Arguments arguments(*type_tree);
        std::int64_t const n = arguments.count();
        auto const lengths = arguments.counts(n);
        for (std::int64_t i = 0; i < n; ++i) add(parts[member_part(*type_tree, i)], lengths[i]);
    } else {
        parts_in = sluice::parts_in(*type_tree);
        add(parts.at(0), parts_in);
    }
}

void External32::Node::add(Node const& part, std::int64_t count) {
    packed += part.packed * count;
    external += part.external * count;
}

template <class Visit>
bool External32::walk(Node const& node, std::int64_t count, Bytes limit, Place& at, Visit&& visit) {
    if (node.external == 0 || count == 0) return true;
    if (node.type_tree->maker == Maker::element) {
        std::int64_t const whole = std::min(count, (limit - at.external) / node.external);
        if (whole > 0) visit(node.type_tree->form, whole, at);
        at.packed += whole * node.packed, at.external += whole * node.external;
        return whole == count;
    }
    if (node.type_tree->maker != Maker::structure)
        return walk(node.parts[0], count * node.parts_in, limit, at, visit);
    for (std::int64_t i = 0; i < count; ++i) {
        if (!walk_members(node, limit, at, visit)) return false;
    }
    return true;
}

template <class Visit>
bool External32::walk_members(Node const& node, Bytes limit, Place& at, Visit&& visit) {
    Arguments arguments(*node.type_tree);
    std::int64_t const n = arguments.count();
    auto const lengths = arguments.counts(n);
    for (std::int64_t i = 0; i < n; ++i) {
        if (!walk(node.parts[member_part(*node.type_tree, i)], lengths[i], limit, at, visit))
            return false;
    }
    return true;
}

External32::External32(std::shared_ptr<TypeTree const> type_tree)
    : type_tree_(std::move(type_tree)),
      root_(*type_tree_) {}

bool External32::from_memory(std::byte const* packed, std::int64_t instances,
                             std::byte* external) const {
    bool fit = true;
    Place at;
    walk(root_, instances, instances * root_.external, at,
         [&](ElementForm form, std::int64_t count, Place const& place) {
             fit &= write_elements(form, count, packed + place.packed, external + place.external);
         });
    return fit;
}

void External32::to_memory(std::byte const* external, Bytes bytes, std::byte* packed) const {
    if (root_.external == 0) return;
    Place at;
    walk(root_, bytes / root_.external + 1, bytes, at,
         [&](ElementForm form, std::int64_t count, Place const& place) {
             read_elements(form, count, external + place.external, packed + place.packed);
         });
}

Bytes External32::packed_bytes(Bytes bytes) const {
    if (root_.external == 0) return 0;
    Place at;
    walk(root_, 1, bytes % root_.external, at, [](ElementForm, std::int64_t, Place const&) {});
    return bytes / root_.external * root_.packed + at.packed;
}

}  // namespace sluice
