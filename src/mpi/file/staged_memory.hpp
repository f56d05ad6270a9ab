// StagedMemory is memory of the host in place of that of a call, where the MPI serves the call and
// the memory lies on a device: MPIs reach devices in messages, but in files some of them crash, and
// others write nothing.
#pragma once
#include "mpi/file/access.hpp"

#include <functional>
#include <memory>

namespace sluice {

class StagedMemory {
public:
    /// Null: the processor reaches the memory, or the arguments are wrong, which the MPI tells.
    /// Of a write: with the bytes as they are when the file's stream has come to its end. Local;
    /// blocks on the device, also where it returns null.
    [[nodiscard]] static std::unique_ptr<StagedMemory> of(AccessArguments const& arguments);
    /// `error`: met before; nothing is staged then.
    StagedMemory(AccessArguments const& arguments, Error const& error);
    ~StagedMemory();
    StagedMemory(StagedMemory const&) = delete;
    StagedMemory& operator=(StagedMemory const&) = delete;

    /// What the MPI gets: after an error no bytes, so that other ranks of the call do not wait.
    [[nodiscard]] AccessArguments const& arguments() const noexcept { return arguments_; }
    /// The MPI has moved the bytes: what was read goes to the device, on which this blocks.
    void finish(MPI_Status const& of_mpi);

    [[nodiscard]] Bytes bytes() const noexcept { return moved_; }  ///< For the call's status.
    /// An error is logged already.
    [[nodiscard]] Status status() const noexcept { return status_; }

private:
    Error stage();
    void fail(Error const& error);

    AccessArguments arguments_;  ///< Of the program; from the constructor's end on, for the MPI.
    std::unique_ptr<ConversionBuffer> buffer_;
    MPI_Datatype own_type_ = MPI_DATATYPE_NULL;
    Bytes moved_ = 0;
    Status status_ = Status::ok;
};

/// Calls a function of the MPI that completes an access, then finish(). `staged` may be null.
/// Returns what the MPI did.
int complete_staged(StagedMemory* staged, MPI_Status* status,
                    std::function<int(MPI_Status*)> const& complete);
/// The same, with an error of the staged memory by the file's handler.
int complete_or_raise(StagedMemory* staged, MPI_Status* status,
                      std::function<int(MPI_Status*)> const& complete);

}  // namespace sluice
