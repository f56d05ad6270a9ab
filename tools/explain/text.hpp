// What `sluice explain` prints.
#pragma once
#include "tools/explain/subject.hpp"

namespace sluice::tools {

/// Pattern, decision, aggregators, order of messages, steps and totals. Stable: golden tests.
[[nodiscard]] std::string explain(Question const& question);

}  // namespace sluice::tools
