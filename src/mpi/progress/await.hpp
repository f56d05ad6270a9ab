// Mode `calls`: these functions wait for the MPI, and move operations on meanwhile.
#pragma once
#include "mpi/progress/progress.hpp"

#include <mpi.h>

namespace sluice {

/// Asks with `ask(&yes)` until it says yes or fails; `code` is what it returned. False where it did
/// neither, but nothing else is under way any more: the MPI may block then.
template <class Ask> bool asked_until_yes(Ask&& ask, int& code) {
    int yes = 0;
    code = MPI_SUCCESS;
    auto const over = [&] {
        code = ask(&yes);
        return yes || code != MPI_SUCCESS || !Progress::needs_callers();
    };
    Progress::instance().drive({.mpi_done = over, .mpi_often = true});
    return yes || code != MPI_SUCCESS;
}

/// Until the MPI has completed the request.
inline int await(MPI_Request request, MPI_Status* status) {
    int code = MPI_SUCCESS;
    auto const ask = [&](int* done) { return PMPI_Test(&request, done, status); };
    return asked_until_yes(ask, code) ? code : PMPI_Wait(&request, status);
}

/// Starts with `start(&request)`, then waits.
template <class Start> int started(Start&& start, MPI_Status* status = MPI_STATUS_IGNORE) {
    MPI_Request request = MPI_REQUEST_NULL;
    int const code = start(&request);
    return code == MPI_SUCCESS ? await(request, status) : code;
}

}  // namespace sluice
