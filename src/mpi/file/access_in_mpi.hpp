// Data accesses that the MPI serves, in each form. Their memory may lie on a device: see
// staged_memory.hpp.
#pragma once
#include "mpi/file/staged_memory.hpp"

namespace sluice {

/// A function of the MPI, which gets these arguments, and the call's status or request.
template <class Result>
using FunctionOfMpi = std::function<int(AccessArguments const& arguments, Result* result)>;

/// Each calls `function`, which is collective or local, and raises what else goes wrong.
int access_in_mpi(AccessArguments const& arguments, MPI_Status* status,
                  FunctionOfMpi<MPI_Status> const& function);
int access_in_mpi(AccessArguments const& arguments, MPI_Request* request,
                  FunctionOfMpi<MPI_Request> const& function);

/// The begin of a split collective; `staged` may be null. Once it has begun this is kept until the
/// end, which tells its errors.
int begin_in_mpi(AccessArguments const& arguments, std::unique_ptr<StagedMemory>& staged,
                 std::function<int(AccessArguments const&)> const& function);
/// What its begin has kept; null: nothing.
[[nodiscard]] std::unique_ptr<StagedMemory> take_begun(MPI_File file);

}  // namespace sluice
