// Data accesses: from the arguments of a call to an operation, and back to its status. What the
// interposed functions share.
#pragma once
#include "api/file.hpp"
#include "api/image.hpp"

namespace sluice {

/// The arguments of a data-access function, whatever its name.
struct AccessArguments {
    MPI_File handle;
    Direction direction;
    bool explicit_offset;
    MPI_Offset offset;  ///< In etypes; only with an explicit offset.
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/// A collective access under way: of a blocking call, a request, or a split collective.
struct Access {
    std::shared_ptr<File> file;
    std::shared_ptr<Operation> operation;
    std::unique_ptr<Image> image;  ///< Often none: most bytes need no conversion.
    bool delivered = false;

    /// Once the operation is complete, by a thread of the program: hands over what was read.
    void deliver();
    /// For the status of the call, once the operation is complete.
    [[nodiscard]] Bytes bytes() const;
};

/// Blocking. Collective over the file's communicator.
int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status);

/// Nonblocking: local, returns at once; an error of any rank is reported at completion, on all.
int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request);

/// A split collective: the same, with the file in place of a request. One at a time (MPI-4.1,
/// 14.4.5).
int access_begin(std::shared_ptr<File> const& file, AccessArguments const& arguments);
int access_end(std::shared_ptr<File> const& file, Direction direction, MPI_Status* status);

/// Independent: local, blocks on the device only. For views that the MPI was not given.
int access_alone(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                 MPI_Status* status);
/// The same as a request, which is complete at once.
int access_alone(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                 MPI_Request* request);

/// ok, or why the datatype cannot be used: null, or not committed.
[[nodiscard]] Status check_type(Team const& team, MPI_Datatype type);

/// Fills a status as a completed operation does.
void set_status(MPI_Status* status, Bytes bytes);

}  // namespace sluice
