// All ranks' schedules of one collective operation, made as the ranks make them but in one place:
// the claims are joined here instead of being sent.
#pragma once
#include "file/plan/delivery.hpp"
#include "file/plan/schedule_claims.hpp"
#include "file/plan/schedule_reduction.hpp"
#include "file/plan/schedule_round.hpp"
#include "schedule/describe.hpp"
#include "schedule/schedule_check.hpp"

#include <map>

namespace sluice::testing {

inline Topology topology_of(Rank ranks, Rank per_node) {
    std::vector<std::int32_t> names;
    for (Rank r = 0; r < ranks; ++r) names.push_back(r / per_node);
    return Topology(names);
}

/// Rank r takes piece r of each of `rows` rows.
inline Request interleaved_request(Rank rank, Rank ranks, Bytes piece, Bytes rows, Direction way) {
    Request r;
    r.direction = way;
    r.view.filetype = std::make_shared<Layout const>(std::vector<Run>{{rank * piece, piece, 0, 1}},
                                                     piece * ranks);
    r.bytes = piece * rows;
    return r;
}

/// Appends `more` behind `to`; the order of ops within one rank's list means nothing by itself.
inline void append(Schedule& to, Schedule const& more) {
    auto const ops = static_cast<std::uint32_t>(to.ops.size());
    auto const edges = static_cast<std::uint32_t>(to.edges.size());
    for (Op op : more.ops) {
        op.first_edge += edges;
        to.ops.push_back(op);
    }
    for (std::uint32_t const edge : more.edges) to.edges.push_back(edge + ops);
}

class WholeWorld {
public:
    WholeWorld(Topology topology, Plan plan, std::vector<Request> const& requests)
        : WholeWorld(
              topology,
              std::vector<Plan>(static_cast<std::size_t>(topology.node_count()), std::move(plan)),
              requests) {}
    /// `plans` by node: by groups they differ.
    WholeWorld(Topology topology, std::vector<Plan> plans, std::vector<Request> const& requests)
        : topology_(std::move(topology)),
          plans_(std::move(plans)) {
        for (Rank r = 0; r < topology_.rank_count(); ++r) {
            claims_.push_back(make_claims(requests[static_cast<std::size_t>(r)], plan(r),
                                          topology_.local_index(r)));
        }
    }

    [[nodiscard]] Topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] Plan const& plan(Rank rank = 0) const noexcept {
        return plans_[static_cast<std::size_t>(topology_.node_of(rank))];
    }

    /// By rank: exchange of summaries, claims, all rounds, agreement.
    [[nodiscard]] std::vector<Schedule> all_schedules() {
        std::vector<Schedule> all(static_cast<std::size_t>(topology_.rank_count()));
        for (Rank r = 0; r < topology_.rank_count(); ++r) {
            Schedule& mine = all[static_cast<std::size_t>(r)];
            append(mine, make_reduction(topology_, r, Channel::summary_exchange, 0));
            append(mine, make_claims_exchange(topology_, r, plan(r), 0));
            for (std::int32_t a = 0; a < plan(r).aggregator_count(); ++a) {
                for (std::int64_t c = 0; c < plan(r).round_count(a); ++c) {
                    append(mine, make_round(topology_, r, plan(r), round_input(r, a, c)));
                }
            }
            append(mine, make_reduction(topology_, r, Channel::agreement, 0));
        }
        return all;
    }

    /// Call in the order of rounds: it counts the messages of each aggregator.
    [[nodiscard]] RoundInput round_input(Rank self, std::int32_t a, std::int64_t round) {
        Plan const& own = plan(self);
        RoundInput input;
        input.aggregator = a;
        input.round = input.queue_round = round;
        input.contributes = claim(self, a).contains(round);
        input.answer_bytes = own.window_bytes;
        Node const node = topology_.node_of(self);
        if (local_aggregator(topology_, own, node, a) != self) return input;
        input.node_claims = node_claim(node, a).contains(round);
        for (Rank r = 0; r < topology_.rank_count(); ++r) {
            if (topology_.node_of(r) == node && claim(r, a).contains(round)) {
                ++input.local_claimants;
            }
        }
        if (own.is_grouped() || topology_.aggregator(a) != self) return input;
        std::vector<Rank> sources;
        for (Node other = 0; other < topology_.node_count(); ++other) {
            if (other == node) continue;
            for (Rank l = 0; own.one_layer() && l < topology_.local_count(other); ++l) {
                Rank const rank = topology_.rank_at(other, l);
                if (claim(rank, a).contains(round)) sources.push_back(rank);
            }
            if (!own.one_layer() && node_claim(other, a).contains(round)) {
                sources.push_back(local_aggregator(topology_, own, other, a));
            }
        }
        sort_by_delivery(sources, own.data, topology_, a, own.aggregator_count());
        input.taken_before = taken_[a];
        taken_[a] += static_cast<std::int64_t>(sources.size());
        for (Rank const rank : sources) input.sources.push_back({rank, own.window_bytes});
        return input;
    }

private:
    [[nodiscard]] Claim const& claim(Rank rank, std::int32_t a) const {
        return claims_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(a)];
    }
    [[nodiscard]] Claim node_claim(Node node, std::int32_t a) const {
        Claim all;
        for (Rank l = 0; l < topology_.local_count(node); ++l) {
            all = join(all, claim(topology_.rank_at(node, l), a));
        }
        return all;
    }

    Topology topology_;
    std::vector<Plan> plans_;
    std::vector<std::vector<Claim>> claims_;      ///< By rank and aggregator.
    std::map<std::int32_t, std::int64_t> taken_;  ///< By aggregator: messages so far.
};

/// An interleaved operation of `rounds` windows an aggregator; ranks in `idle` want nothing.
inline WholeWorld interleaved_world(Rank ranks, Rank per_node, std::int32_t aggregators,
                                    std::int64_t rounds, Direction way, unsigned idle = 0,
                                    Hints const& hints = {}) {
    auto topology = topology_of(ranks, per_node);
    PlanLimits limits;
    limits.key = FingerprintKey::of_seed(1);
    constexpr Bytes page = 4096;
    Bytes const row = page, piece = row / ranks;
    std::vector<Request> requests;
    std::vector<Summary> records;
    Summary all;
    for (Rank r = 0; r < ranks; ++r) {
        requests.push_back(interleaved_request(r, ranks, piece, aggregators * rounds, way));
        if (idle >> r & 1) requests.back().bytes = 0;
        Summary const mine = summarise(requests.back(), {0, limits.key.get()});
        all = r == 0 ? mine : merge(all, mine);
        records.push_back(mine);
    }
    all.cb_buffer_bytes = page, all.cb_buffer_count = 2;
    all.hints = hints;
    all.hints.aggregator_count = aggregators;
    all.hints.write = all.hints.read = Strategy::two_phase;
    std::vector<Plan> plans;
    for (Node node = 0; node < topology.node_count(); ++node) {
        plans.push_back(make_plan(all, topology, limits));
        if (!plans.back().needs_groups()) continue;
        auto const first = static_cast<std::size_t>(topology.leader(node));
        auto const locals = static_cast<std::size_t>(topology.local_count(node));
        divide_by_groups(plans.back(), all, topology, node,
                         std::span(records).subspan(first, locals), {}, limits.key.get());
    }
    return {std::move(topology), std::move(plans), requests};
}

}  // namespace sluice::testing
