// What is explained: one collective call of all ranks of a described machine, worked out as the
// library works it out, without running it.
#pragma once
#include "file/plan/plan_cache.hpp"
#include "tools/simulate/scenario.hpp"

namespace sluice::tools {

struct Question {
    Scenario scenario;
    Bytes memory_bytes = Bytes{256} << 20;          ///< Staging memory of a node: SLUICE_MEMORY.
    Rank rank = -1;                                 ///< Whose steps are told; -1: two that differ.
    std::int64_t rounds = 1;                        ///< Of each of them.
    std::int32_t lines = 16;                        ///< Of a list, at most.
    bool blocking = true;                           ///< Callers wait for the call.
    std::int32_t cores = 0;                         ///< Of a rank; 0: as many as a node's ranks.
    std::shared_ptr<MachineProfile const> machine;  ///< Null: as where nobody measured.
};

/// What one rank has, from the least to the most.
struct Between {
    std::int64_t least = 0, most = 0;
};

/// What one aggregator takes from other nodes, or sends to them.
struct Traffic {
    Rank near = 0;     ///< Ranks of its own node that take part.
    Rank senders = 0;  ///< Of other nodes.
    std::int64_t messages = 0, most_in_a_round = 0;
    Bytes bytes = 0;      ///< Of data.
    Bytes most_each = 0;  ///< Of data in one message, at most.
};

class Subject {
public:
    /// The scenario must be possible.
    explicit Subject(Question question);

    [[nodiscard]] Question const& question() const noexcept { return question_; }
    [[nodiscard]] Topology const& topology() const noexcept { return topology_; }
    [[nodiscard]] Summary const& summary_exchange() const noexcept { return summary_exchange_; }
    [[nodiscard]] PlanLimits const& limits() const noexcept { return limits_; }
    /// By groups: as the node of the asked rank has it.
    [[nodiscard]] Plan const& plan() const noexcept { return plan_; }
    [[nodiscard]] Rank aggregator(std::int32_t a) const noexcept {
        return sluice::aggregator(topology_, plan_, a);
    }
    [[nodiscard]] Weights const& weights() const noexcept { return weights_; }
    /// By the cost model; 0 without a machine's profile.
    [[nodiscard]] double estimated_seconds() const noexcept { return estimated_seconds_; }
    [[nodiscard]] Between bytes() const noexcept { return bytes_; }
    [[nodiscard]] Between pieces() const noexcept { return pieces_; }
    [[nodiscard]] Bytes all_bytes() const noexcept { return all_bytes_; }
    [[nodiscard]] std::int64_t all_pieces() const noexcept { return all_pieces_; }
    [[nodiscard]] Rank independent_ranks() const noexcept { return independent_ranks_; }
    [[nodiscard]] Rank empty_ranks() const noexcept { return empty_ranks_; }
    [[nodiscard]] Bytes wanted_window_bytes() const noexcept;

    /// Between nodes; they go once, whether they claim anything or not.
    [[nodiscard]] std::int64_t claim_messages() const noexcept;
    [[nodiscard]] Traffic traffic(std::int32_t aggregator) const;
    /// Who brings aggregator `a` bytes of other nodes, in the order of delivery.
    [[nodiscard]] std::vector<Source> sources(std::int32_t aggregator) const;
    /// What a rank knows after the claims are exchanged.
    [[nodiscard]] Claims claims_of(Rank rank) const;

private:
    [[nodiscard]] Request request_of(Rank rank) const;
    [[nodiscard]] std::int32_t cores() const noexcept;
    [[nodiscard]] bool goes_independently(Request const& request) const;
    [[nodiscard]] Request exchanged(Rank rank) const;
    void summary_exchange_all();
    void weigh_all();
    void claim_all();
    [[nodiscard]] Summary summary_of(Request const& request, Rank rank);
    [[nodiscard]] Bytes bytes_for(Request const& request, std::int32_t aggregator) const;
    [[nodiscard]] Claim& claim_at(std::int32_t aggregator, Rank rank);
    [[nodiscard]] std::size_t source_count() const noexcept;

    Question question_;
    Topology topology_;
    PlanLimits limits_;
    Node node_;                     ///< Whose groups are told.
    std::vector<Summary> records_;  ///< Of its ranks.
    Summary summary_exchange_;
    Weights weights_;  ///< Of all ranks.
    Plan plan_;
    double estimated_seconds_ = 0;
    Between bytes_, pieces_;
    Bytes all_bytes_ = 0;
    std::int64_t all_pieces_ = 0;
    Rank independent_ranks_ = 0, empty_ranks_ = 0;
    std::vector<Claim> claims_;     ///< [aggregator][node, or rank with one layer], joined.
    std::vector<Traffic> traffic_;  ///< By aggregator; bytes and near ranks.
};

}  // namespace sluice::tools
