// How plans are kept, found and moved. See plan_cache.hpp.
#include "file/plan/plan_cache.hpp"

namespace sluice {
namespace {

constexpr std::size_t entries_at_most = 16;

bool same_layout(std::weak_ptr<Layout const> const& a, std::weak_ptr<Layout const> const& b) {
    return !a.expired() && !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

PlanKey::PlanKey(Request const& r) : filetype_(r.view.filetype), bytes_(r.bytes) {
    Layout const& layout = *r.view.filetype;
    place_ = r.view.displacement;
    if (layout.is_contiguous()) {
        place_ += r.position;
        return;
    }
    position_ = r.position % layout.tile_bytes();
    place_ += r.position / layout.tile_bytes() * layout.tile_extent();
}

bool PlanKey::same_as(PlanKey const& other) const noexcept {
    return bytes_ == other.bytes_ && position_ == other.position_ &&
           same_layout(filetype_, other.filetype_);
}

PlanLookup PlanCache::plan_lookup(Request const& request) const {
    if (request.bytes <= 0) return PlanLookup::of_any();
    PlanKey const plan_key(request);
    for (Entry const& entry : entries_) {
        if (!plan_key.same_as(entry.plan_key)) continue;
        return PlanLookup::of(entry.operation, plan_key.place() - entry.plan_key.place());
    }
    return {};
}

std::shared_ptr<Claims> PlanCache::find(PlanLookup const& all, Plan const& plan) {
    if (!all.is_one()) return nullptr;
    auto const found = std::find_if(entries_.begin(), entries_.end(), [&](Entry const& entry) {
        return entry.operation == all.operation;
    });
    if (found == entries_.end() || shifted(found->plan, all.distance) != plan) return nullptr;
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front().claims;
}

std::shared_ptr<Weights const> PlanCache::weights(PlanLookup const& all) const {
    if (!all.is_one()) return nullptr;
    for (Entry const& entry : entries_)
        if (entry.operation == all.operation) return entry.weights;
    return nullptr;
}

void PlanCache::store(std::int64_t operation, Request const& request, Plan const& plan,
                      std::shared_ptr<Claims> claims, std::shared_ptr<Weights const> weights) {
    PlanKey const plan_key = request.bytes > 0 ? PlanKey(request) : PlanKey();
    entries_.insert(entries_.begin(),
                    {operation, plan_key, plan, std::move(claims), std::move(weights)});
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
