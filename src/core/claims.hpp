// Who takes part in which cycles: per aggregator one interval of cycles for a rank, and for a node.
// Pure. A few bytes, whatever the pattern; which bytes are wanted travels with each cycle as a
// coverage. Next stage: core/schedule.hpp.
#pragma once
#include "core/plan.hpp"

namespace sluice {

/// The cycles [first, first + count) of one aggregator; trivially copyable: it travels as bytes.
struct Claim {
    std::int64_t first = 0, count = 0;
    [[nodiscard]] bool contains(std::int64_t cycle) const noexcept {
        return cycle >= first && cycle < first + count;
    }
    bool operator==(Claim const&) const = default;
};

/// What a rank claims of each aggregator.
[[nodiscard]] std::vector<Claim> make_claims(Request const& request, Plan const& plan);

/// The smallest claim that contains both.
[[nodiscard]] Claim join(Claim a, Claim b) noexcept;

/// How many of the claims contain a cycle.
[[nodiscard]] std::int64_t claimant_count(std::vector<Claim> const& claims,
                                          std::int64_t cycle) noexcept;

}  // namespace sluice
