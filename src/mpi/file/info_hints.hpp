// Hints in the info objects of a program: what this library takes of them, and what of them goes on
// to the MPI, which opens the file too.
#pragma once
#include "settings/file_hints.hpp"

#include <mpi.h>

namespace sluice {

class File;

/// Hints for the MPI's own file by which ROMIO writes no byte that nobody asked for. It would
/// otherwise read what lies between the pieces of a view and write it back, in independent calls
/// (data sieving) and in collective ones: those of the shared pointer by ranks on several nodes,
/// where Sluice serves the rest.
class ExactHints {
public:
    /// Of a file that the MPI serves: collective calls stay as they are.
    explicit ExactHints(MPI_Info given);
    /// Of `file`, at its next set_view or set_info. All ranks must hand over the same ones of these
    /// hints, since ROMIO broadcasts each: all do until a call has succeeded, and none later.
    ExactHints(MPI_Info given, File const& file);
    ~ExactHints();
    ExactHints(ExactHints const&) = delete;
    ExactHints& operator=(ExactHints const&) = delete;
    [[nodiscard]] MPI_Info info() const noexcept { return info_; }

private:
    void copy(MPI_Info given);

    MPI_Info info_ = MPI_INFO_NULL;
};

/// The hints of one rank, and what is left of them for the MPI: some MPIs stop the program at
/// numbers that are none, so those hints go no further than a warning.
class OwnHints {
public:
    OwnHints(MPI_Info given, FileHints before);
    ~OwnHints();
    OwnHints(OwnHints const&) = delete;
    OwnHints& operator=(OwnHints const&) = delete;

    FileHints hints;
    MPI_Info for_mpi;

private:
    MPI_Info copy_ = MPI_INFO_NULL;
};

}  // namespace sluice
