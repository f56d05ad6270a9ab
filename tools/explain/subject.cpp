// Exchange of summaries, plan and claims of all ranks, one rank after the other. See subject.hpp.
#include "tools/explain/subject.hpp"

#include "file/plan/delivery.hpp"
#include "file/plan/independent.hpp"
#include "file/plan/staging.hpp"
#include "schedule/port.hpp"

#include <map>
#include <utility>

namespace sluice::tools {
namespace {

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

std::vector<std::int32_t> node_names(simulated::Machine const& machine) {
    std::vector<std::int32_t> names;
    for (Rank r = 0; r < machine.ranks(); ++r) names.push_back(r / machine.ranks_per_node);
    return names;
}

void widen(Between& all, std::int64_t one, bool first) noexcept {
    all = first ? Between{one, one} : Between{std::min(all.least, one), std::max(all.most, one)};
}

}  // namespace

Subject::Subject(Question question)
    : question_(std::move(question)),
      topology_(node_names(question_.scenario.machine)),
      node_(question_.rank < 0 ? 0 : topology_.node_of(question_.rank)) {
    auto const& machine = question_.scenario.machine;
    limits_ = {aggregators_usual(topology_, cores()), simulated::costs_of(machine), cores(),
               question_.machine, FingerprintKey::of_seed(1)};
    summary_exchange_all();
    weigh_all();
    Decision const decision = decide(summary_exchange_, topology_, limits_, &weights_);
    estimated_seconds_ = decision.estimate.total;
    plan_ = make_plan(decision, summary_exchange_, topology_, limits_, &weights_);
    if (plan_.needs_groups()) {
        divide_by_groups(plan_, summary_exchange_, topology_, node_, records_,
                         decision.way.aggregators, limits_.key.get());
    }
    if (plan_.strategy == Strategy::two_phase) claim_all();
}

std::int32_t Subject::cores() const noexcept {
    return question_.cores > 0 ? question_.cores : question_.scenario.machine.ranks_per_node;
}

void Subject::weigh_all() {
    for (Rank r = 0; r < topology_.rank_count(); ++r)
        weights_ += weigh(exchanged(r), summary_exchange_.span);
}

Request Subject::request_of(Rank rank) const { return tools::request_of(question_.scenario, rank); }

bool Subject::goes_independently(Request const& request) const {
    auto const rule = independent_rule(limits_, request.direction, topology_.rank_count(),
                                       independent_piece_bytes_usual);
    return wants_independent(request, question_.scenario.hints, rule);
}

Request Subject::exchanged(Rank rank) const {
    Request request = request_of(rank);
    return goes_independently(request) ? nothing(request.direction) : request;
}

Bytes Subject::wanted_window_bytes() const noexcept {
    return wished_window_bytes(question_.scenario.hints, limits_);
}

Summary Subject::summary_of(Request const& request, Rank rank) {
    std::int64_t const pieces = request.bytes > 0 ? piece_count(request) : 0;
    widen(bytes_, request.bytes, rank == 0);
    widen(pieces_, pieces, rank == 0);
    all_bytes_ += request.bytes;
    all_pieces_ += pieces;
    bool const independent = goes_independently(request);
    if (independent) ++independent_ranks_;
    if (request.bytes == 0) ++empty_ranks_;
    Request const& exchanged = independent ? nothing(request.direction) : request;
    Scope scope = scope_of(question_.scenario.hints, topology_, limits_);
    scope.key =
        limits_.key.get();  // Who reads this wants to know of holes also where nodes do not ask.
    Summary summary = summarise(exchanged, scope);
    if (independent) summary.independent = load_of(request);
    return summary;
}

void Subject::summary_exchange_all() {
    Hints const& hints = question_.scenario.hints;
    std::int32_t const usual = aggregators_usual(topology_, cores());
    std::int32_t const most = std::min(hints.aggregator_count > 0 ? hints.aggregator_count : usual,
                                       topology_.aggregator_count_max());
    bool const whole =
        hints.data.kernel == Kernel::pairwise && cb_buffers_of(most) <= cb_buffers_most;
    Bytes const cb_buffer = cb_buffer_bytes_within(
        question_.memory_bytes, whole ? cb_buffers_of(most) : cb_buffers_needed(most),
        wanted_window_bytes());
    for (Node node = 0; node < topology_.node_count(); ++node) {
        Summary all;
        for (Rank local = 0; local < topology_.local_count(node); ++local) {
            Rank const rank = topology_.rank_at(node, local);
            Summary one = summary_of(request_of(rank), rank);
            one.hints = hints;
            one.waiting = question_.blocking ? 1 : 0;
            one.cb_buffer_bytes = cb_buffer;
            one.cb_buffer_count = cb_buffers_per_aggregator;
            one.staged_whole = whole ? 1 : 0;
            if (node == node_) records_.push_back(one);
            all = local == 0 ? one : merge(all, one);
        }
        close_node(all);
        summary_exchange_ = node == 0 ? all : merge(summary_exchange_, all);
    }
}

std::size_t Subject::source_count() const noexcept {
    return index(plan_.one_layer() ? topology_.rank_count() : topology_.node_count());
}

Claim& Subject::claim_at(std::int32_t aggregator, Rank rank) {
    Rank const source = plan_.one_layer() ? rank : topology_.node_of(rank);
    return claims_[index(aggregator) * source_count() + index(source)];
}

Bytes Subject::bytes_for(Request const& request, std::int32_t aggregator) const {
    Bytes const most = positions_in(request, plan_.domains[index(aggregator)]).bytes();
    if (plan_.stripe_bytes == 0 || most == 0) return most;
    Bytes bytes = 0;
    for (std::int64_t c = 0; c < plan_.round_count(aggregator); ++c)
        bytes += bytes_in(request, plan_.window(aggregator, c));
    return bytes;
}

void Subject::claim_all() {
    traffic_.resize(plan_.domains.size());
    claims_.resize(plan_.domains.size() * source_count());
    for (Rank r = 0; r < topology_.rank_count(); ++r) {
        if (plan_.is_grouped() && topology_.node_of(r) != node_) continue;
        Request const request = exchanged(r);
        auto const claims = make_claims(request, plan_, topology_.local_index(r));
        for (std::int32_t a = 0; a < plan_.aggregator_count(); ++a) {
            if (claims[index(a)].empty()) continue;
            Traffic& traffic = traffic_[index(a)];
            if (topology_.node_of(aggregator(a)) == topology_.node_of(r)) {
                ++traffic.near;
                continue;
            }
            traffic.bytes += bytes_for(request, a);
            Claim& joined = claim_at(a, r);
            joined = join(joined, claims[index(a)]);
        }
    }
}

std::vector<Source> Subject::sources(std::int32_t aggregator) const {
    std::vector<Rank> order;
    std::map<Rank, Claim const*> claim_of;
    for (std::size_t s = 0; s < source_count(); ++s) {
        Claim const& claim = claims_[index(aggregator) * source_count() + s];
        if (claim.empty()) continue;
        auto const number = static_cast<Rank>(s);
        Rank const rank =
            plan_.one_layer() ? number : local_aggregator(topology_, plan_, number, aggregator);
        order.push_back(rank);
        claim_of[rank] = &claim;
    }
    sort_by_delivery(order, plan_.data, topology_, aggregator, plan_.aggregator_count());
    std::vector<Source> sources;
    for (Rank const rank : order) sources.push_back({rank, *claim_of[rank]});
    return sources;
}

Traffic Subject::traffic(std::int32_t aggregator) const {
    Traffic traffic = traffic_[index(aggregator)];
    auto const all = sources(aggregator);
    traffic.senders = static_cast<Rank>(all.size());
    for (Source const& source : all)
        traffic.most_each =
            std::max(traffic.most_each, std::min(source.claim.round_bytes, plan_.window_bytes));
    for (std::int64_t c = 0; c < plan_.round_count(aggregator); ++c) {
        auto const now = std::count_if(
            all.begin(), all.end(), [&](Source const& source) { return source.claim.contains(c); });
        traffic.messages += now;
        traffic.most_in_a_round = std::max<std::int64_t>(traffic.most_in_a_round, now);
    }
    return traffic;
}

std::int64_t Subject::claim_messages() const noexcept {
    std::int64_t messages = 0;
    if (plan_.is_grouped()) return 0;
    for (std::int32_t a = 0; a < plan_.aggregator_count(); ++a) {
        Node const node = topology_.node_of(topology_.aggregator(a));
        messages += plan_.metadata.layers == Layers::one
                        ? topology_.rank_count() - topology_.local_count(node)
                        : topology_.node_count() - 1;
    }
    return messages;
}

Claims Subject::claims_of(Rank rank) const {
    Claims claims;
    claims.complete = true;
    claims.own = make_claims(exchanged(rank), plan_, topology_.local_index(rank));
    claims.local.resize(plan_.domains.size());
    Node const node = topology_.node_of(rank);
    for (Rank l = 0; l < topology_.local_count(node); ++l) {
        auto const others = make_claims(exchanged(topology_.rank_at(node, l)), plan_, l);
        for (std::size_t a = 0; a < others.size(); ++a) claims.local[a].push_back(others[a]);
    }
    for (std::int32_t a = 0; a < plan_.aggregator_count(); ++a)
        if (aggregator(a) == rank) claims.sources = sources(a);
    return claims;
}

}  // namespace sluice::tools
