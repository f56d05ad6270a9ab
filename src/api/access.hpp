// From the arguments of a data-access call to a Call, and back: what the interposed functions
// share.
#pragma once
#include "api/requests.hpp"

namespace sluice {

/// The arguments of a collective data-access function, whatever its name.
struct AccessArguments {
    MPI_File handle;
    Direction direction;
    bool explicit_offset;
    MPI_Offset offset;  ///< In etypes; only with an explicit offset.
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/// Blocking. Collective over the file's communicator.
int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status);

/// Nonblocking: local, returns at once; an error of any rank is reported at completion, on all.
int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request);

/// ok, or why the datatype cannot be used: null, or not committed.
[[nodiscard]] Status check_type(Team const& team, MPI_Datatype type);

}  // namespace sluice
