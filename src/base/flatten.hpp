// From recipes of datatypes to layouts. Pure.
#pragma once
#include "base/layout.hpp"
#include "base/recipe.hpp"

namespace sluice {

/// The layout of one instance, repeated at its extent.
[[nodiscard]] std::shared_ptr<Layout const> flatten(Recipe const& recipe);

/// How many instances of the datatype below it one instance of a datatype holds. Not for elements
/// and structures.
[[nodiscard]] std::int64_t parts_in(Recipe const& recipe);

}  // namespace sluice
