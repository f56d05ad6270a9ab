// How far a datatype reaches, by its type tree alone: asked before it is flattened, so that nothing
// that is made of it can overflow. Pure. Next stage: base/flatten.hpp.
#pragma once
#include "base/type_tree.hpp"

namespace sluice {

/// Whether all offsets and the bytes of one instance are so small that requests can be reckoned
/// with (offset_limit in base/layout.hpp). O(numbers of the type tree).
[[nodiscard]] bool is_in_range(TypeTree const& type_tree);

}  // namespace sluice
