// From recipes of datatypes to layouts. Pure.
#pragma once
#include "core/layout.hpp"
#include "core/recipe.hpp"

namespace sluice {

/// The layout of one instance, repeated at its extent.
[[nodiscard]] std::shared_ptr<Layout const> flatten(Recipe const& recipe);

}  // namespace sluice
