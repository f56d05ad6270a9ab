// From a request and the plan to intervals of cycles. Pure.
#include "core/claims.hpp"

namespace sluice {

std::vector<Claim> make_claims(Request const& request, Plan const& plan) {
    std::vector<Claim> claims(plan.domains.size());
    Layout const& view = *request.view.filetype;
    for (std::size_t a = 0; a < claims.size(); ++a) {
        Span const& domain = plan.domains[a];
        Span const positions = positions_in(request, domain);
        if (positions.empty()) continue;
        Offset const origin = request.view.displacement;
        Bytes const base = request.position;
        Offset const first = origin + view.offset_at(base + positions.begin);
        Offset const last = origin + view.offset_at(base + positions.end - 1);
        claims[a].first = (first - domain.begin) / plan.window_bytes;
        claims[a].count = (last - domain.begin) / plan.window_bytes - claims[a].first + 1;
    }
    return claims;
}

Claim join(Claim a, Claim b) noexcept {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    std::int64_t const first = std::min(a.first, b.first);
    std::int64_t const end = std::max(a.first + a.count, b.first + b.count);
    return {first, end - first};
}

std::int64_t claimant_count(std::vector<Claim> const& claims, std::int64_t cycle) noexcept {
    return std::count_if(claims.begin(), claims.end(),
                         [&](Claim const& claim) { return claim.contains(cycle); });
}

}  // namespace sluice
