// What the MPI knows of a datatype, as a recipe. The only place that takes datatypes apart.
#pragma once
#include "core/recipe.hpp"

#include <mpi.h>

namespace sluice {

/// How the file holds data (MPI-4.1, 14.5). "internal" is native here.
enum class Representation : std::uint8_t { native, external32 };

/// The recipe of a datatype; null where a constructor is not known. In external32 elements have
/// other lengths, and nothing is padded; displacements in bytes are taken as they are. Local. The
/// datatype may be freed at once.
[[nodiscard]] std::shared_ptr<Recipe const> capture(MPI_Datatype type,
                                                    Representation representation);

/// Named types need not be, and may not be, freed.
[[nodiscard]] bool is_named(MPI_Datatype type);

/// Bytes of one instance.
[[nodiscard]] Bytes size_of(MPI_Datatype type,
                            Representation representation = Representation::native);

}  // namespace sluice
