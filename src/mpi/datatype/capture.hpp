// These functions ask the MPI how a datatype was made, and describe it as a type tree. No other
// file takes datatypes apart.
#pragma once
#include "base/type_tree.hpp"

#include <mpi.h>

namespace sluice {

/// How the file holds data (MPI-4.1, 14.5). "internal" is native here.
enum class Representation : std::uint8_t { native, external32 };

/// The type tree of a datatype; null where a constructor is not known, or an element has no form in
/// external32. There elements have other lengths, and nothing is padded; displacements in bytes are
/// taken as they are. Local. The datatype may be freed at once.
[[nodiscard]] std::shared_ptr<TypeTree const> capture(MPI_Datatype type,
                                                      Representation representation);

/// Predefined types, those of MPI_Type_create_f90_* among them, may not be freed.
[[nodiscard]] bool is_predefined(MPI_Datatype type);

/// Bytes of one instance, in memory and in a native file.
[[nodiscard]] Bytes size_of(MPI_Datatype type);

}  // namespace sluice
