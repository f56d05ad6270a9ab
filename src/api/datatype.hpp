// MPI datatypes, flattened into layouts. The only place that takes datatypes apart.
#pragma once
#include "core/layout.hpp"

#include <memory>
#include <mpi.h>

namespace sluice {

/// How the file holds data (MPI-4.1, 14.5). "internal" is native here.
enum class Representation : std::uint8_t { native, external32 };

/// The layout of one instance, repeated at its extent; null where a combiner is not known. For a
/// file view its representation decides how long elements are; displacements in bytes are taken as
/// they are. Local. The datatype may be freed at once.
[[nodiscard]] std::shared_ptr<Layout const>
flatten(MPI_Datatype type, Representation representation = Representation::native);

/// Named types need not be, and may not be, freed.
[[nodiscard]] bool is_named(MPI_Datatype type);

/// Bytes of one instance.
[[nodiscard]] Bytes size_of(MPI_Datatype type,
                            Representation representation = Representation::native);

}  // namespace sluice
