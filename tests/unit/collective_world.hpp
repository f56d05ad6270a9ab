// Calls of all ranks to one collective, drawn from a seed, and their schedules.
#pragma once
#include "collective/algorithms.hpp"

#include <algorithm>
#include <random>
#include <string>

namespace sluice::testing {

/// What a test varies.
struct CallShape {
    CollectiveKind kind = CollectiveKind::barrier;
    Rank ranks = 1;
    Rank root = 0;
    bool in_place = false;
    bool commutative = true;
    Bytes block = 0;  ///< Irregular kinds: bytes of most blocks, at most.
    Bytes element = 1;
    unsigned seed = 0;
};

inline std::string name(CallShape const& c) {
    return std::string(describe(c.kind)) + ", " + std::to_string(c.ranks) + " ranks, root " +
           std::to_string(c.root) + (c.in_place ? ", in place, " : ", ") +
           (c.commutative ? "" : "ordered, ") + std::to_string(c.block) + " bytes, seed " +
           std::to_string(c.seed);
}

inline constexpr CollectiveKind moving_kinds[] = {
    CollectiveKind::barrier,
    CollectiveKind::bcast,
    CollectiveKind::gather,
    CollectiveKind::gatherv,
    CollectiveKind::scatter,
    CollectiveKind::scatterv,
    CollectiveKind::allgather,
    CollectiveKind::allgatherv,
    CollectiveKind::alltoall,
    CollectiveKind::alltoallv,
    CollectiveKind::neighbor_allgather,
    CollectiveKind::neighbor_allgatherv,
    CollectiveKind::neighbor_alltoall,
    CollectiveKind::neighbor_alltoallv,
};

inline constexpr CollectiveKind reducing_kinds[] = {
    CollectiveKind::reduce,         CollectiveKind::allreduce,
    CollectiveKind::reduce_scatter, CollectiveKind::reduce_scatter_block,
    CollectiveKind::scan,           CollectiveKind::exscan,
};

inline bool is_neighborhood(CollectiveKind kind) {
    return kind >= CollectiveKind::neighbor_allgather;
}

inline bool has_root(CollectiveKind kind) {
    return (kind >= CollectiveKind::bcast && kind <= CollectiveKind::scatterv) ||
           kind == CollectiveKind::reduce;
}

inline bool can_be_in_place(CollectiveKind kind) {
    return kind != CollectiveKind::barrier && kind != CollectiveKind::bcast &&
           !is_neighborhood(kind);
}

/// Draws the calls of all ranks.
class CallDrawer {
public:
    explicit CallDrawer(CallShape const& c) : case_(c), random_(c.seed) {}

    std::vector<CollectiveCall> draw() {
        CollectiveCall call;
        call.kind = case_.kind, call.commutative = case_.commutative, call.root = case_.root;
        call.element = case_.element, call.block = case_.block;
        calls_.assign(static_cast<std::size_t>(case_.ranks), call);
        draw_sizes();
        if (is_neighborhood(case_.kind)) draw_edges();
        for (Rank r = 0; r < case_.ranks; ++r) {
            bool const root_only =
                case_.kind == CollectiveKind::gather || case_.kind == CollectiveKind::gatherv ||
                case_.kind == CollectiveKind::scatter || case_.kind == CollectiveKind::scatterv ||
                case_.kind == CollectiveKind::reduce;
            at(r).in_place = case_.in_place && (!root_only || r == case_.root);
        }
        return std::move(calls_);
    }

private:
    [[nodiscard]] CollectiveCall& at(Rank r) { return calls_[static_cast<std::size_t>(r)]; }

    Bytes draw_size() {
        auto const elements = case_.block / case_.element;
        if (elements == 0 || random_() % 4 == 0) return 0;
        auto const most = static_cast<std::uint64_t>(random_() % 16 == 0 ? 3 * elements : elements);
        return static_cast<Bytes>(1 + random_() % most) * case_.element;
    }
    std::vector<Bytes> draw_list(std::size_t count) {
        std::vector<Bytes> all(count);
        for (Bytes& one : all) one = draw_size();
        return all;
    }
    void draw_sizes() {
        auto const ranks = calls_.size();
        switch (case_.kind) {
        case CollectiveKind::gatherv:
        case CollectiveKind::scatterv:
        case CollectiveKind::allgatherv:
            return give_each_its_block(draw_list(ranks));
        case CollectiveKind::reduce_scatter: {
            auto const parts = draw_list(ranks);
            for (CollectiveCall& call : calls_) call.outputs = parts, call.block = 0;
            return;
        }
        case CollectiveKind::alltoallv:
            return draw_pairs();
        default:
            return;
        }
    }
    void give_each_its_block(std::vector<Bytes> const& sizes) {
        for (Rank r = 0; r < case_.ranks; ++r) {
            at(r).block = sizes[static_cast<std::size_t>(r)];
            if (case_.kind == CollectiveKind::allgatherv) at(r).outputs = sizes;
        }
        if (case_.kind == CollectiveKind::gatherv) at(case_.root).outputs = sizes;
        if (case_.kind == CollectiveKind::scatterv) at(case_.root).inputs = sizes;
    }
    void draw_pairs() {
        for (Rank r = 0; r < case_.ranks; ++r) {
            at(r).block = 0;
            at(r).inputs = draw_list(calls_.size());
            at(r).outputs.resize(calls_.size());
        }
        for (Rank from = 0; from < case_.ranks; ++from) {
            for (Rank to = 0; to < case_.ranks; ++to) {
                auto const f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
                // In place what goes and what comes have the same size.
                if (case_.in_place && to < from) calls_[f].inputs[t] = calls_[t].inputs[f];
                calls_[t].outputs[f] = calls_[f].inputs[t];
            }
        }
        if (!case_.in_place) return;
        for (CollectiveCall& call : calls_) call.inputs.clear();
    }
    void draw_edges();

    CallShape case_;
    std::vector<CollectiveCall> calls_;
    std::mt19937 random_;
};

/// Up to three edges a rank, some of them alike, some to itself, some to nobody.
inline void CallDrawer::draw_edges() {
    auto const list = draw_list(calls_.size());
    bool const alltoallv = case_.kind == CollectiveKind::neighbor_alltoallv;
    bool const allgatherv = case_.kind == CollectiveKind::neighbor_allgatherv;
    auto const take = [&](CollectiveCall& call, Rank source, Bytes bytes) {
        call.sources.push_back(source);
        if (alltoallv || allgatherv) call.outputs.push_back(bytes);
    };
    for (Rank r = 0; r < case_.ranks; ++r) {
        if (alltoallv) at(r).block = 0;
        if (allgatherv) at(r).block = list[static_cast<std::size_t>(r)];
        for (auto edges = random_() % 4; edges-- > 0;) {
            bool const nobody = random_() % 8 == 0;
            auto const to = static_cast<Rank>(random_() % calls_.size());
            Bytes const bytes = alltoallv ? draw_size() : at(r).block;
            at(r).destinations.push_back(nobody ? -1 : to);
            if (alltoallv) at(r).inputs.push_back(bytes);
            if (!nobody) take(at(to), r, bytes);
            if (random_() % 8 == 0) take(at(to), -1, draw_size());
        }
    }
}

inline std::vector<CollectiveCall> draw_calls(CallShape const& c) { return CallDrawer(c).draw(); }

inline std::vector<CollectiveSchedule> make_all(std::vector<CollectiveCall> const& calls,
                                                Algorithm algorithm, Bytes segment = 64 << 10) {
    std::vector<CollectiveSchedule> all;
    auto const ranks = static_cast<Rank>(calls.size());
    for (Rank r = 0; r < ranks; ++r) {
        all.push_back(
            make_collective(calls[static_cast<std::size_t>(r)], algorithm, r, ranks, segment));
    }
    return all;
}

}  // namespace sluice::testing
