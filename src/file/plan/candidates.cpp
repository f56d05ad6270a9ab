// How the ways that hints and memory leave open are listed and priced. See cost_model.hpp.
#include "file/plan/cost_model.hpp"
#include "file/plan/decision.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace sluice {
namespace {

/// Two candidates this close are as good as each other: no profile is more exact.
constexpr double margin = 0.03;
constexpr double aggregator_bytes_min = 64 * 1024;  ///< Of the span; a share of less is no help.

/// A few numbers without a heap.
template <typename T, std::size_t most> struct Few {
    std::array<T, most> values{};
    std::size_t count = 0;

    void add(T value) noexcept {
        bool const known = std::find(begin(), end(), value) != end();
        if (!known && count < most) values[count++] = value;
    }
    [[nodiscard]] T const* begin() const noexcept { return values.data(); }
    [[nodiscard]] T const* end() const noexcept { return values.data() + count; }
};

using Counts = Few<std::int32_t, 34>;  // Powers of two, the nodes, and the most.
using Sizes = Few<Bytes, 4>;
using Divisions = Few<Domains, 4>;

/// More come first: where one is held up, others go on, which no estimate knows.
Counts counts_of(Workload const& w, Freedom const& freedom) noexcept {
    auto const ranks = static_cast<std::int32_t>(std::max(w.ranks, 1.0));
    Counts counts;
    if (freedom.hints.aggregator_count > 0) {
        counts.add(std::min(freedom.hints.aggregator_count, ranks));
        return counts;
    }
    double const useful = std::max(1.0, w.span / aggregator_bytes_min);
    auto const most = static_cast<std::int32_t>(
        std::clamp<double>(std::min<double>(freedom.aggregators_most, useful), 1, ranks));
    for (std::int64_t count = 1; count <= most; count *= 2)
        counts.add(static_cast<std::int32_t>(count));
    auto const nodes = static_cast<std::int32_t>(w.nodes);
    if (nodes <= most) counts.add(nodes);
    counts.add(most);
    std::sort(counts.values.begin(), counts.values.begin() + counts.count, std::greater<>());
    return counts;
}

/// The usual one first, then those around it.
Sizes windows_of(Workload const& w, MachineProfile const& machine,
                 Freedom const& freedom) noexcept {
    Sizes sizes;
    auto const add = [&](Bytes wanted) {
        sizes.add(fitting_window(wanted, freedom.hints, freedom.window_most));
    };
    if (freedom.hints.window_bytes > 0) {
        add(freedom.hints.window_bytes);
        return sizes;
    }
    Bytes const usual = window_bytes(machine, w.direction);
    for (Bytes const size : {usual, usual / 2, usual * 2, usual * 4}) add(size);
    return sizes;
}

Divisions divisions_of(Workload const& w, Freedom const& freedom) noexcept {
    Divisions divisions;
    Hints const& hints = freedom.hints;
    if (hints.domains != Domains::automatic) {
        divisions.add(hints.domains);
        return divisions;
    }
    bool const several_servers = hints.stripe_bytes > 0 && hints.stripe_count > 1;
    divisions.add(several_servers ? Domains::cyclic : Domains::even);
    if (several_servers) return divisions;
    if (freedom.can_group && w.nodes > 1) divisions.add(Domains::groups);
    if (!w.covered && w.bytes < w.span) divisions.add(Domains::balanced);
    return divisions;
}

/// Gaps that aggregators may read along: as far as that pays, or none.
Sizes sieves_of(Workload const& w, MachineProfile const& machine, std::int32_t count) noexcept {
    Sizes sieves;
    bool const reads = w.direction == Direction::read;
    sieves.add(reads ? sieve_bytes(machine, count) : 0);
    if (reads && !w.covered && w.bytes < w.span) sieves.add(0);
    return sieves;
}

/// A window twice as long as all that there is for it is as good as one half as long.
bool is_too_long(Bytes size, Candidate const& c, Workload const& w, Sizes const& sizes) noexcept {
    double const domain = w.span / c.aggregators;
    return std::any_of(sizes.begin(), sizes.end(), [&](Bytes other) {
        return other < size && static_cast<double>(other) >= domain;
    });
}

template <typename Take>
void for_each_window(Candidate c, Workload const& w, Sizes const& windows, Layers by_hint,
                     Take&& take) {
    bool const sends = w.nodes > 1 && c.domains != Domains::groups;
    for (Bytes const size : windows) {
        if (is_too_long(size, c, w, windows)) continue;
        c.window_bytes = size;
        for (Layers const layers : {Layers::two, Layers::one}) {
            bool const open = !sends || by_hint == Layers::automatic || by_hint == layers;
            if (!open || (!sends && layers == Layers::one)) continue;
            c.layers = sends ? layers : Layers::automatic;
            take(c);
        }
    }
}

/// Calls `take` with each way, those that should be taken where others are no better first.
template <typename Take>
void for_each_candidate(Workload const& w, MachineProfile const& machine, Freedom const& freedom,
                        Take&& take) {
    bool const writes = w.direction == Direction::write;
    Strategy const hint = writes ? freedom.hints.write : freedom.hints.read;
    bool const stages = freedom.window_most >= stripe_bytes_default;
    if (hint != Strategy::two_phase || !stages) {
        take(Candidate{});
        Bytes const sieve = writes ? 0 : sieve_bytes(machine, static_cast<Rank>(w.ranks));
        if (sieve > 0 && w.pieces > w.ranks) take(Candidate{.sieve_bytes = sieve});
    }
    if (hint == Strategy::independent || !stages) return;
    Divisions const divisions = divisions_of(w, freedom);
    Sizes const windows = windows_of(w, machine, freedom);
    Candidate c;
    c.strategy = Strategy::two_phase;
    Counts const counts = counts_of(w, freedom);
    for (auto const count : counts) {
        c.aggregators = count;
        Sizes const sieves = sieves_of(w, machine, count);
        for (auto const division : divisions) {
            bool const grouped = division == Domains::groups;
            if (grouped && count < w.nodes && count != *counts.begin()) continue;
            if (division == Domains::balanced && count == 1 && divisions.count > 1) continue;
            c.domains = division;
            for (Bytes const sieve : sieves) {
                c.sieve_bytes = sieve;
                for_each_window(c, w, windows, freedom.hints.data.layers, take);
            }
        }
    }
}

bool cheaper(Priced const& one, Priced const& other) noexcept {
    auto const key = [](Priced const& p) {
        Candidate const& c = p.candidate;
        return std::tuple(p.estimate.total, c.aggregators, c.sieve_bytes, c.domains, c.window_bytes,
                          c.layers);
    };
    return key(one) < key(other);
}

}  // namespace

std::vector<Priced> price_all(Workload const& work, MachineProfile const& machine,
                              Freedom const& freedom) {
    std::vector<Priced> all;
    all.reserve(64);
    for_each_candidate(work, machine, freedom, [&](Candidate const& candidate) {
        all.push_back({candidate, price(candidate, work, machine)});
    });
    std::sort(all.begin(), all.end(), cheaper);
    return all;
}

Priced choose(Workload const& work, MachineProfile const& machine, Freedom const& freedom) {
    // Candidates come in the order in which they are preferred: one that is dearer than the first
    // one is of no use, and only the cheapest total is known at the end.
    std::vector<Priced> kept;
    double least = -1;
    for_each_candidate(work, machine, freedom, [&](Candidate const& candidate) {
        Priced const one{candidate, price(candidate, work, machine)};
        if (least >= 0 && one.estimate.total >= least) return;
        least = one.estimate.total;
        kept.push_back(one);
    });
    return *std::find_if(kept.begin(), kept.end(), [&](Priced const& one) {
        return one.estimate.total <= least * (1 + margin);
    });
}

}  // namespace sluice
