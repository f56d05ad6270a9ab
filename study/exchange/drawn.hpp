// Machines and patterns drawn from a seed, and on each of them the library's choice of the exchange
// against the choices that hints can force: `sluice bench exchange --choices`.
#pragma once
#include "tools/simulate/scenario.hpp"

namespace sluice::tools {

/// Drawn: nodes and ranks, what messages, copies and queues cost, ports and cards; pattern, bytes,
/// pieces, direction; aggregators and windows, and so senders and rounds. At most `ranks_most`.
[[nodiscard]] Scenario drawn_scenario(std::uint64_t seed, Rank ranks_most);

/// Who sends, in which order, and with which throttle: metadata and data.
struct ForcedDelivery {
    Delivery metadata, data;
};

/// Each order with each number of layers and some throttles for data, with metadata of the same
/// kind and with the best of the rest.
[[nodiscard]] std::vector<ForcedDelivery> forced_deliveries();

/// One scenario: simulated seconds.
struct ChoiceOutcome {
    std::string fault;  ///< Empty: every byte was right.
    double chosen = 0, best = 0;
    std::vector<double> forced;     ///< Of each of forced_deliveries().
    std::string choice, best_name;  ///< In words.
    Plan plan;                      ///< Of the library's choice.

    [[nodiscard]] double ratio() const noexcept { return chosen / best; }
};
[[nodiscard]] ChoiceOutcome compare_choice(Scenario scenario);

}  // namespace sluice::tools
