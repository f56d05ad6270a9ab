// How Lustre's layouts are read. See striping.hpp.
#include "base/striping.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sluice {
namespace {

// Offsets and values as they are in Lustre's lustre_user.h: part of its protocol.
constexpr std::uint32_t magic_1 = 0x0BD10BD0, magic_3 = 0x0BD30BD0, magic_composite = 0x0BD60BD0;
constexpr std::size_t head_bytes = 32;  ///< Of a plain layout, and of a composite one.
constexpr std::size_t pattern_at = 4, stripe_size_at = 24, stripe_count_at = 28;
constexpr std::size_t entry_count_at = 14, entry_bytes = 48;
constexpr std::size_t extent_begin_at = 8, extent_end_at = 16, blob_at = 24, blob_bytes_at = 28;
constexpr std::uint32_t pattern_in_turn = 1, pattern_overlaid = 0x200;
constexpr std::size_t first_server_at = 30;
constexpr std::int32_t all_servers = 0xFFFF;  ///< Of a layout that was not made yet.
constexpr std::uint64_t any_server = 0xFFFF;
constexpr std::size_t pool_bytes = 16;  ///< Behind the head, in version 3.

/// Numbers of a few bytes in one order.
class Fields {
public:
    Fields(std::span<std::byte const> bytes, bool big) : bytes_(bytes), big_(big) {}
    [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            auto const byte = std::to_integer<std::uint64_t>(bytes_[at + i]);
            value |= byte << (8 * (big_ ? width - 1 - i : i));
        }
        return value;
    }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    /// A part; empty where it does not lie inside.
    [[nodiscard]] Fields part(std::uint64_t at, std::uint64_t length) const {
        bool const inside = at <= size() && length <= size() - at;
        return {inside ? bytes_.subspan(at, length) : std::span<std::byte const>{}, big_};
    }

private:
    std::span<std::byte const> bytes_;
    bool big_;
};

std::uint32_t magic_of(Fields const& fields) {
    return fields.size() < head_bytes ? 0 : static_cast<std::uint32_t>(fields.number(0, 4));
}

/// As they stand there.
std::optional<Striping> numbers_of_plain(Fields const& layout) {
    auto const magic = magic_of(layout);
    if (magic != magic_1 && magic != magic_3) return std::nullopt;
    return Striping{static_cast<Bytes>(layout.number(stripe_size_at, 4)),
                    static_cast<std::int32_t>(layout.number(stripe_count_at, 2))};
}

std::optional<Striping> parse_plain(Fields const& layout) {
    auto const found = numbers_of_plain(layout);
    if (!found) return std::nullopt;
    auto const pattern = layout.number(pattern_at, 4) & ~std::uint64_t{pattern_overlaid};
    bool const is_made =
        found->stripe_bytes > 0 && found->stripe_count > 0 && found->stripe_count != all_servers;
    return pattern == pattern_in_turn && is_made ? found : std::nullopt;
}

std::optional<Striping> parse_composite(Fields const& layout) {
    auto const count = layout.number(entry_count_at, 2);
    Fields const entries = layout.part(head_bytes, count * entry_bytes);
    if (entries.size() == 0) return std::nullopt;
    std::uint64_t longest = 0;
    std::optional<Striping> found;
    for (std::size_t at = 0; at < entries.size(); at += entry_bytes) {
        auto const begin = entries.number(at + extent_begin_at, 8);
        auto const end = entries.number(at + extent_end_at, 8);
        if (end <= begin || end - begin <= longest) continue;
        longest = end - begin;
        found = parse_plain(
            layout.part(entries.number(at + blob_at, 4), entries.number(at + blob_bytes_at, 4)));
    }
    return found;
}

constexpr bool is_big = std::endian::native == std::endian::big;

void put(std::vector<std::byte>& to, std::size_t at, std::size_t width, std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i)
        to[at + i] = static_cast<std::byte>(value >> (8 * (is_big ? width - 1 - i : i)));
}

}  // namespace

std::optional<Striping> parse_lustre_request(std::span<std::byte const> bytes) {
    return numbers_of_plain(Fields(bytes, is_big));
}

std::vector<std::byte> lustre_layout(Striping const& wanted, std::span<std::byte const> of_folder) {
    Striping asked = parse_lustre_request(of_folder).value_or(Striping{});
    constexpr Bytes most = std::numeric_limits<std::uint32_t>::max() / lustre_stripe_multiple;
    Bytes const multiples = wanted.stripe_bytes / lustre_stripe_multiple +
                            (wanted.stripe_bytes % lustre_stripe_multiple > 0 ? 1 : 0);
    if (multiples > 0) asked.stripe_bytes = std::min(multiples, most) * lustre_stripe_multiple;
    if (wanted.stripe_count > 0)
        asked.stripe_count = std::min(wanted.stripe_count, all_servers - 1);
    Fields const folder(of_folder, is_big);
    bool const has_pool =
        magic_of(folder) == magic_3 && folder.part(head_bytes, pool_bytes).size() > 0;
    std::vector<std::byte> layout(head_bytes + (has_pool ? pool_bytes : 0));
    put(layout, 0, 4, has_pool ? magic_3 : magic_1);
    put(layout, pattern_at, 4, pattern_in_turn);
    put(layout, stripe_size_at, 4, static_cast<std::uint64_t>(asked.stripe_bytes));
    put(layout, stripe_count_at, 2, static_cast<std::uint64_t>(asked.stripe_count));
    put(layout, first_server_at, 2, any_server);
    if (has_pool)
        std::ranges::copy(of_folder.subspan(head_bytes, pool_bytes), layout.begin() + head_bytes);
    return layout;
}

std::optional<Striping> parse_lustre_layout(std::span<std::byte const> bytes) {
    for (bool const big : {false, true}) {
        Fields const layout(bytes, big);
        if (magic_of(layout) == magic_composite) return parse_composite(layout);
        if (auto const plain = parse_plain(layout)) return plain;
    }
    return std::nullopt;
}

}  // namespace sluice
