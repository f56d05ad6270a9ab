// Where domains and windows begin and end. See domains.hpp.
#include "file/plan/domains.hpp"

#include "base/round_up.hpp"

namespace sluice {

Bytes bytes_in(Request const& request, Window const& window) noexcept {
    Bytes bytes = 0;
    for (std::int64_t i = 0; i < window.part_count; ++i) {
        bytes += positions_in(request, window.part(i)).bytes();
    }
    return bytes;
}

std::int64_t Cutting::stripes_a_window() const noexcept {
    return std::max<std::int64_t>(1, window_bytes / stripe_bytes);
}

std::int64_t Cutting::windows_a_stripe() const noexcept {
    return (stripe_bytes + window_bytes - 1) / window_bytes;
}

std::int64_t Cutting::round_count(Span domain) const noexcept {
    if (domain.empty()) return 0;
    if (stripe_bytes == 0) return (domain.bytes() + window_bytes - 1) / window_bytes;
    std::int64_t const whole = (domain.bytes() - 1) / row_bytes;  // Stripes before the last.
    if (stripe_bytes <= window_bytes) return whole / stripes_a_window() + 1;
    Bytes const last = domain.bytes() - whole * row_bytes;
    return whole * windows_a_stripe() + (last + window_bytes - 1) / window_bytes;
}

Window Cutting::window(Span domain, std::int64_t round) const noexcept {
    if (stripe_bytes == 0) {
        Offset const begin = domain.begin + round * window_bytes;
        return Span{begin, std::min(begin + window_bytes, domain.end)};
    }
    if (stripe_bytes > window_bytes) {
        Offset const stripe = domain.begin + round / windows_a_stripe() * row_bytes;
        Offset const begin = stripe + round % windows_a_stripe() * window_bytes;
        Offset const end = std::min(stripe + stripe_bytes, domain.end);
        return Span{begin, std::min(begin + window_bytes, end)};
    }
    std::int64_t const stripes = (domain.bytes() + row_bytes - 1) / row_bytes;
    std::int64_t const first = round * stripes_a_window();
    std::int64_t const count = std::min(stripes_a_window(), stripes - first);
    return {domain.begin + first * row_bytes, stripe_bytes, row_bytes, count, domain.end};
}

std::vector<Span> even_domains(Span span, std::int64_t count, Bytes unit) {
    Offset const begin = span.begin / unit * unit;
    Bytes const share = round_up((span.end - begin + count - 1) / count, unit);
    std::vector<Span> domains;
    for (Offset at = begin; at < span.end; at += share) {
        domains.push_back({at, std::min(at + share, span.end)});
    }
    return domains;
}

std::vector<Span> cyclic_domains(Span span, std::int64_t count, Bytes stripe_bytes) {
    std::int64_t const first = span.begin / stripe_bytes, last = (span.end - 1) / stripe_bytes;
    std::vector<Span> domains;
    for (std::int64_t a = 0; a < count; ++a) {
        std::int64_t const low = first + (a - first % count + count) % count;
        std::int64_t const high = last - (last % count - a + count) % count;
        Offset const end = std::min((high + 1) * stripe_bytes, span.end);
        bool const none = low > last;  // Empty ones move along with the span.
        domains.push_back(none ? Span{span.begin, span.begin} : Span{low * stripe_bytes, end});
    }
    return domains;
}

std::vector<Span> balanced_domains(Span span, Weights const& weights, std::int64_t count,
                                   Bytes unit) {
    std::vector<Span> domains;
    Offset begin = span.begin / unit * unit;
    for (std::int64_t k = 1; k < count; ++k) {
        Offset const border = (border_of(weights, span, k, count) + unit / 2) / unit * unit;
        if (border <= begin || border >= span.end) continue;
        domains.push_back({begin, border});
        begin = border;
    }
    domains.push_back({begin, span.end});
    return domains;
}

std::int64_t cyclic_count(std::int64_t wanted, std::int64_t server_count) noexcept {
    if (server_count <= 0) return wanted;
    if (wanted >= server_count) return wanted / server_count * server_count;
    while (server_count % wanted != 0) --wanted;
    return wanted;
}

}  // namespace sluice
