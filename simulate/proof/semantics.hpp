// What MPI says of collectives, without any algorithm: what lies in the ranks' memory before a
// call, and after it. Tests and simulations use it, never production. Pure.
#pragma once
#include "collective/collective.hpp"
#include "simulate/proof/symbolic.hpp"

#include <span>

namespace sluice {

/// Bytes of a stream. What ranks bring is counted in positions of their inputs, also in
/// place.
struct Expected {
    Bytes at = 0, bytes = 0;
    Content content;
};

/// What rank `self` brings, as far as it lies in its output.
[[nodiscard]] std::vector<Expected> brought_in_output(CollectiveCall const& call, Rank self,
                                                      Rank ranks);

/// What must be in the output of rank `self` after the call; other bytes of it are left as they
/// were, but where MPI does not say: see may_spoil().
[[nodiscard]] std::vector<Expected> expected_output(std::span<CollectiveCall const> calls,
                                                    Rank self, Contributors& contributors);

/// Bytes of the output that are not expected may have been used for anything.
[[nodiscard]] bool may_spoil(CollectiveCall const& call) noexcept;

}  // namespace sluice
