// Storing and finding of plans. See plan_cache.hpp.
#include "file/plan/plan_cache.hpp"

namespace sluice {
namespace {

constexpr std::size_t entries_at_most = 16;

bool same_layout(std::weak_ptr<Layout const> const& a, std::weak_ptr<Layout const> const& b) {
    return !a.expired() && !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

Footprint::Footprint(Request const& r) : filetype_(r.view.filetype), bytes_(r.bytes) {
    Layout const& layout = *r.view.filetype;
    place_ = r.view.displacement;
    if (layout.is_contiguous()) {
        place_ += r.position;
        return;
    }
    position_ = r.position % layout.tile_bytes();
    place_ += r.position / layout.tile_bytes() * layout.tile_extent();
}

bool Footprint::same_as(Footprint const& other) const noexcept {
    return bytes_ == other.bytes_ && position_ == other.position_ &&
           same_layout(filetype_, other.filetype_);
}

Recall PlanCache::recall(Request const& request) const {
    if (request.bytes <= 0) return Recall::of_any();
    Footprint const footprint(request);
    for (Entry const& entry : entries_) {
        if (!footprint.same_as(entry.footprint)) continue;
        return Recall::of(entry.operation, footprint.place() - entry.footprint.place());
    }
    return {};
}

std::shared_ptr<Claims> PlanCache::find(Recall const& all, Plan const& plan) {
    if (!all.is_one()) return nullptr;
    auto const found = std::find_if(entries_.begin(), entries_.end(), [&](Entry const& entry) {
        return entry.operation == all.operation;
    });
    if (found == entries_.end() || shifted(found->plan, all.distance) != plan) return nullptr;
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front().claims;
}

std::optional<std::vector<Span>> PlanCache::domains(Recall const& all, Plan open) const {
    for (Entry const& entry : entries_) {
        if (entry.operation != all.operation || all.distance != 0) continue;
        open.domains = entry.plan.domains;
        if (open == entry.plan) return open.domains;
    }
    return std::nullopt;
}

void PlanCache::store(std::int64_t operation, Request const& request, Plan const& plan,
                      std::shared_ptr<Claims> claims) {
    Footprint const footprint = request.bytes > 0 ? Footprint(request) : Footprint();
    entries_.insert(entries_.begin(), {operation, footprint, plan, std::move(claims)});
    if (entries_.size() > entries_at_most) entries_.pop_back();
}

Plan shifted(Plan plan, Offset distance) {
    auto const shift = [&](Span& span) { span.begin += distance, span.end += distance; };
    shift(plan.span);
    for (Span& domain : plan.domains) shift(domain);
    for (Span& group : plan.groups.spans) shift(group);
    return plan;
}

}  // namespace sluice
