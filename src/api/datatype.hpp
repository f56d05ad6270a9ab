// MPI datatypes, flattened into layouts. The only place that takes datatypes apart.
#pragma once
#include "core/layout.hpp"

#include <memory>
#include <mpi.h>

namespace sluice {

/// The layout of one instance, repeated at its extent; null where a combiner is not known.
/// Local. The datatype may be freed at once.
[[nodiscard]] std::shared_ptr<Layout const> flatten(MPI_Datatype type);

[[nodiscard]] Bytes size_of(MPI_Datatype type);

}  // namespace sluice
