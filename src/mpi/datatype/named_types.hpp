// What the library must know of the MPI's predefined datatypes lies in a table that is made once,
// so that it need not ask the MPI again.
#pragma once
#include "base/type_tree.hpp"
#include "collective/reduction.hpp"

#include <mpi.h>

namespace sluice {

struct NamedType {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Bytes size = 0;
    Offset extent = 0;
    bool combines = false;  ///< Predefined operations know it, as `element`.
    ElementType element = ElementType::uint8;
    bool bits_only = false;  ///< MPI_BYTE: has no value.
    ElementForm form = ElementForm::unknown;
};

/// Null for others: derived datatypes, and predefined ones that nothing is known of. Local; any
/// thread, once MPI is initialised.
[[nodiscard]] NamedType const* named_type(MPI_Datatype type) noexcept;

/// What converting an element to external32 has to know; `unknown` where nothing is known of it.
[[nodiscard]] ElementForm form_of(MPI_Datatype type) noexcept;

}  // namespace sluice
