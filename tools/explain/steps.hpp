// A schedule in sentences.
#pragma once
#include "file/plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace sluice::tools {

/// One line for each step, numbered; of many messages that are alike the first few.
[[nodiscard]] std::string steps_text(Schedule const& schedule, Topology const& topology,
                                     Plan const& plan);

}  // namespace sluice::tools
