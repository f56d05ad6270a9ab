// What the numbers of a recorded datatype have to be before it is flattened. The MPI had checked
// those of the program; a log may be damaged. Pure.
#pragma once
#include "base/layout.hpp"
#include "base/type_tree.hpp"

#include <span>

namespace sluice::record {

/// Whether a type tree has all that flattening looks at, and numbers that the MPI would take. Its
/// parts have been asked before.
[[nodiscard]] bool is_whole(TypeTree const& tree);

/// What flattening makes of a datatype, as far as that decides how long it takes for those that are
/// made of it.
struct Shape {
    double runs = 0;
    bool is_piece = false;  ///< One stretch of bytes: at equal distances they are one run.
    bool is_dense = false;  ///< And instances follow each other without a gap.
};

/// Of a tree that is whole, from the shapes of its parts, without flattening it.
[[nodiscard]] Shape shape_at_most(TypeTree const& tree, std::span<Shape const> parts);
/// As it is.
[[nodiscard]] Shape shape_of(Layout const& layout);

}  // namespace sluice::record
