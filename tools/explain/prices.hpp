// What the candidates would cost on a measured machine.
#pragma once
#include "tools/explain/subject.hpp"

namespace sluice::tools {

/// A table of the candidates and what becomes of them; empty without a profile.
[[nodiscard]] std::string prices_text(Subject const& subject);

}  // namespace sluice::tools
