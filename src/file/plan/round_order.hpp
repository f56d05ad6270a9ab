// The RoundOrder tells whether a round comes before all others that have not ended on its node.
// Operations come in the order of the calls, in each the first rounds of all aggregators, then the
// second ones, and so on: the same order on all nodes. Such a round always gets a collective
// buffer, so the first of all rounds of the job can always go on, whatever the others hold. Pure.
#pragma once
#include "file/plan/plan.hpp"

namespace sluice {

class RoundOrder {
public:
    /// An operation has begun its exchange, after those before it. What is pointed to outlives its
    /// remove(): the plan, and the operation queue's number of the first round of each aggregator.
    void add(std::int64_t operation, Plan const& plan,
             std::vector<std::int64_t> const& first_rounds) {
        entries_.push_back({operation, &plan, &first_rounds, 0, 0, {}});
    }
    /// All of its rounds have ended.
    void remove(std::int64_t operation) {
        std::erase_if(entries_, [&](Entry const& entry) { return entry.operation == operation; });
    }

    /// `ended(aggregator, queue_round)`: whether the round has ended on this node; it stays so.
    template <class Ended>
    bool is_next(std::int64_t operation, std::int32_t aggregator, std::int64_t queue_round,
                 Ended&& ended) {
        for (Entry& entry : entries_) {
            bool const own = entry.operation == operation;
            std::int64_t const round =
                own ? queue_round - (*entry.first_rounds)[static_cast<std::size_t>(aggregator)]
                    : std::numeric_limits<std::int64_t>::max();
            if (!have_ended_before(entry, round, aggregator, ended)) return false;
            if (own) return true;
        }
        return false;
    }

    /// Whether an operation before it has messages that leave in turn: those need the collective
    /// buffers of all its aggregators at once.
    [[nodiscard]] bool is_behind_turns(std::int64_t operation) const noexcept {
        return std::ranges::any_of(entries_, [&](Entry const& entry) {
            return entry.operation < operation && entry.plan->sends_in_turn();
        });
    }

private:
    struct Entry {
        std::int64_t operation;
        Plan const* plan;
        std::vector<std::int64_t> const* first_rounds;
        // All rounds before this one have ended: that of `left[at]`.
        std::int64_t round;
        std::size_t at;
        std::vector<std::int32_t> left;  ///< Aggregators with such a round.
    };

    template <class Ended>
    static bool have_ended_before(Entry& entry, std::int64_t round, std::int32_t aggregator,
                                  Ended&& ended) {
        if (entry.round == 0 && entry.at == 0) begin(entry);
        while (!entry.left.empty() && entry.round <= round) {
            for (; entry.at < entry.left.size(); ++entry.at) {
                std::int32_t const a = entry.left[entry.at];
                if (entry.round == round && a >= aggregator) return true;
                if (!ended(a, (*entry.first_rounds)[static_cast<std::size_t>(a)] + entry.round))
                    return false;
            }
            ++entry.round, entry.at = 0;
            std::erase_if(entry.left, [&](std::int32_t a) {
                return entry.plan->round_count(a) <= entry.round;
            });
        }
        return true;
    }
    static void begin(Entry& entry) {
        entry.left.clear();
        for (std::int32_t a = 0; a < entry.plan->aggregator_count(); ++a) {
            if (entry.plan->round_count(a) > 0) entry.left.push_back(a);
        }
    }

    std::vector<Entry> entries_;
};

}  // namespace sluice
