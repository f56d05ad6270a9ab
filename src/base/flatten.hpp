// From type trees of datatypes to layouts. Pure.
#pragma once
#include "base/layout.hpp"
#include "base/type_tree.hpp"

namespace sluice {

/// The layout of one instance, repeated at its extent.
[[nodiscard]] std::shared_ptr<Layout const> flatten(TypeTree const& type_tree);

/// How many instances of the datatype below it one instance of a datatype holds. Not for elements
/// and structures.
[[nodiscard]] std::int64_t parts_in(TypeTree const& type_tree);

}  // namespace sluice
