// How claims are made from a request and the plan, joined, and put into messages. See claims.hpp.
#include "file/plan/claims.hpp"

#include <bit>

namespace sluice {
namespace {

constexpr std::int64_t word_count = Claim::bit_count / 64;

bool has(Claim const& claim, std::int64_t bit) noexcept {
    return (claim.bits[bit / 64] >> bit % 64 & 1) != 0;
}

/// Stripes that are looked at one by one before a block of rounds is taken as a whole.
constexpr std::int64_t stripes_looked_at = 16;

/// An upper bound of the bytes wanted in one of the rounds [first, last]: none where it is 0.
Bytes bytes_in_rounds(Request const& request, Plan const& plan, std::int32_t a, std::int64_t first,
                      std::int64_t last) {
    Window const begin = plan.window(a, first);
    Bytes const all = positions_in(request, {begin.begin, plan.window(a, last).end}).bytes();
    bool const in_stripes = plan.stripe_bytes > 0 && all > 0;
    if (!in_stripes || (last - first + 1) * begin.part_count > stripes_looked_at) {
        return std::min(all, plan.window_bytes);
    }
    Bytes most = 0;
    for (; first <= last; ++first) {
        most = std::max(most, bytes_in(request, plan.window(a, first)));
    }
    return most;
}

Claim claim_of(Request const& request, Plan const& plan, std::int32_t a) {
    Claim claim;
    std::int64_t const rounds = plan.round_count(a);
    std::int64_t const scale = (rounds + Claim::bit_count - 1) / Claim::bit_count;
    claim.scale = static_cast<std::uint32_t>(std::max<std::int64_t>(scale, 1));
    Span const domain = plan.domains[static_cast<std::size_t>(a)];
    if (positions_in(request, domain).empty()) return claim;
    for (std::int64_t first = 0, bit = 0; first < rounds; first += claim.scale, ++bit) {
        std::int64_t const last = std::min(first + claim.scale, rounds) - 1;
        Bytes const bytes = bytes_in_rounds(request, plan, a, first, last);
        if (bytes <= 0) continue;
        claim.add(bit);
        claim.round_bytes = std::max(claim.round_bytes, bytes);
    }
    return claim;
}

}  // namespace

bool Claim::empty() const noexcept {
    return std::all_of(bits, bits + word_count, [](std::uint64_t word) { return word == 0; });
}

std::int64_t Claim::first() const noexcept {
    for (std::int64_t w = 0; w < word_count; ++w) {
        if (bits[w] != 0) return (w * 64 + std::countr_zero(bits[w])) * scale;
    }
    return 0;
}

std::int64_t Claim::end() const noexcept {
    for (std::int64_t w = word_count; w-- > 0;) {
        if (bits[w] != 0) return (w * 64 + 64 - std::countl_zero(bits[w])) * scale;
    }
    return 0;
}

std::vector<Claim> make_claims(Request const& request, Plan const& plan, Rank local) {
    std::vector<Claim> claims;
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        claims.push_back(plan.serves(a, local) ? claim_of(request, plan, a) : Claim{});
    }
    return claims;
}

Claim join(Claim const& a, Claim const& b) noexcept {
    Claim both = a.scale < b.scale ? b : a;  // One that contains nothing may have any scale.
    for (std::int64_t w = 0; w < word_count; ++w) both.bits[w] = a.bits[w] | b.bits[w];
    both.round_bytes = a.round_bytes + b.round_bytes;
    return both;
}

void encode(Claim const& claim, ByteBuffer& to) {
    put_number(to, claim.scale);
    put_number(to, static_cast<std::uint64_t>(claim.round_bytes));
    std::int64_t at = 0;
    for (std::int64_t bit = 0; bit < Claim::bit_count;) {
        if (!has(claim, bit)) {
            ++bit;
            continue;
        }
        std::int64_t const begin = bit;
        while (bit < Claim::bit_count && has(claim, bit)) ++bit;
        put_number(to, static_cast<std::uint64_t>(bit - begin));
        put_number(to, static_cast<std::uint64_t>(begin - at));
        at = bit;
    }
    put_number(to, 0);
}

std::optional<Claim> decode_claim(std::span<std::byte const> from, std::size_t& at) {
    Claim claim;
    std::uint64_t scale = 0, bytes = 0, length = 0, gap = 0, bit = 0;
    if (!get_number(from, at, scale) || !get_number(from, at, bytes)) return std::nullopt;
    if (scale == 0 || scale > UINT32_MAX || bytes >> 62 != 0) return std::nullopt;
    claim.scale = static_cast<std::uint32_t>(scale);
    claim.round_bytes = static_cast<Bytes>(bytes);
    for (;;) {
        if (!get_number(from, at, length)) return std::nullopt;
        if (length == 0) return claim;
        if (!get_number(from, at, gap)) return std::nullopt;
        std::uint64_t const room = Claim::bit_count - bit;
        if (gap > room || length > room - gap) return std::nullopt;
        for (bit += gap; length > 0; --length) claim.add(static_cast<std::int64_t>(bit++));
    }
}

}  // namespace sluice
