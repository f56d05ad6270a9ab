// A schedule in sentences.
#pragma once
#include "core/plan.hpp"
#include "core/schedule.hpp"

namespace sluice::tools {

/// One line for each step, numbered; of many messages that are alike the first few.
[[nodiscard]] std::string steps_text(Schedule const& schedule, Topology const& topology,
                                     Plan const& plan);

}  // namespace sluice::tools
