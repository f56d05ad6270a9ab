// These functions show that one rank's schedule leaves nothing to chance that matters, or say what
// it leaves. Tests and simulations use them, never production. Pure.
#pragma once
#include "collective/algorithms.hpp"

namespace sluice {

/// Empty where in every order of starts that the edges allow the same bytes are read and the same
/// messages meet: ops that touch the same bytes, one of them writing, are ordered; messages of one
/// peer and value start in the order of the schedule. Independent of other ranks.
[[nodiscard]] std::string order_fault(Schedule const& schedule);

}  // namespace sluice
