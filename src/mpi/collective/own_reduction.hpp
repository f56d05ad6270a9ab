// Reductions for which the library has no loops, because the operation or the datatype is the
// program's own. The MPI applies them, on memory as the datatype lays it out.
#pragma once
#include "collective/reduction.hpp"

#include <mpi.h>
#include <optional>

namespace sluice {

/// Which of MPI's operations it is, of those for collectives; nothing for one of the user's.
[[nodiscard]] std::optional<ReductionOp> predefined(MPI_Op op) noexcept;

/// The operation and the datatype may be freed: they are kept until this is gone. By a thread that
/// may call MPI.
[[nodiscard]] std::shared_ptr<Reduction const> make_reduction(MPI_Op op, MPI_Datatype type);

/// Frees, as MPI_Op_free and MPI_Type_free do, but what a reduction still needs only later.
int free_op(MPI_Op* op);
int free_type(MPI_Datatype* type);

/// Frees what no reduction needs any more. By a thread that may call MPI.
void free_what_was_needed();

}  // namespace sluice
