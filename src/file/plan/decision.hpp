// A Decision says how a collective call is done before its span is divided: independent or
// two-phase, with how many aggregators, and with which windows and domains. The cost model decides
// where the machine was measured, else rules of thumb do. The functions are pure, and all ranks get
// the same results; plan.hpp goes on from there.
#pragma once
#include "base/topology.hpp"
#include "file/plan/cost_model.hpp"
#include "file/plan/exchange_choice.hpp"
#include "file/plan/summary.hpp"

#include <memory>

namespace sluice {

inline constexpr Bytes stripe_bytes_default = 4096;           ///< A page.
inline constexpr Bytes gap_bytes_default = 64 * 1024;         ///< Read along, by aggregators.
inline constexpr Bytes cyclic_stripe_bytes = Bytes{1} << 20;  ///< Where nobody knows the file's.

/// What the machine has to offer, and what ranks agreed on; equal on all ranks.
struct PlanLimits {
    std::int32_t aggregator_count = 1;  ///< When no hint says otherwise.
    Costs costs{};
    std::int32_t cores_a_node = 1;                    ///< That the ranks of a node may use.
    std::shared_ptr<MachineProfile const> machine{};  ///< Null: not measured; rules decide.
    std::shared_ptr<FingerprintKey const> key{};      ///< Null: no coverage is proved.
};

struct Decision {
    Candidate way;
    char const* reason = "";     ///< Why this strategy, for people.
    bool priced = false;         ///< The model knows what it costs.
    bool free = false;           ///< No hint said which strategy.
    bool needs_weights = false;  ///< It, or its domains, may be others where those are known.
    Estimate estimate;
};

/// `all` is the merged summary of all ranks, `weights` those of all ranks over its span. Without
/// them the bytes are taken to be spread evenly, and the decision says whether they are needed.
[[nodiscard]] Decision decide(Summary const& all, Topology const& topology,
                              PlanLimits const& limits, Weights const* weights = nullptr);

/// What the hints and the memory that all nodes reserved leave open.
[[nodiscard]] Freedom freedom_of(Summary const& all, Topology const& topology,
                                 PlanLimits const& limits);

/// What the exchange of summaries is to find out.
[[nodiscard]] Scope scope_of(Hints const& hints, Topology const& topology,
                             PlanLimits const& limits) noexcept;

/// The window that is wished for, before memory and stripes have their say.
[[nodiscard]] Bytes wished_window_bytes(Hints const& hints, PlanLimits const& limits) noexcept;

/// As many bytes as wanted, in whole stripes and pages, where there are `memory` for them.
[[nodiscard]] Bytes fitting_window(Bytes wanted, Hints const& hints, Bytes memory) noexcept;

/// The unit of the borders of domains, and that of cyclic ones.
[[nodiscard]] Bytes unit_of(Hints const& hints) noexcept;
[[nodiscard]] Bytes cyclic_unit_of(Hints const& hints) noexcept;

}  // namespace sluice
