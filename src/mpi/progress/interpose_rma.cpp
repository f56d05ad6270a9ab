// Mode `calls`: all ranks of a window meet before collective calls on it, MPI_Win_start waits for
// the targets and MPI_Win_wait for the origins while operations move on. MPI_Win_lock cannot be
// tried, only waited in, so operations stand still there while another rank has the lock. In mode
// `thread` each call goes straight to the MPI.
#include "mpi/pmpi.hpp"
#include "mpi/progress/await.hpp"
#include "mpi/progress/progress_barrier.hpp"

namespace {

/// Makes a window with `make()`.
template <class Make> int made(MPI_Comm communicator, MPI_Win const* window, Make&& make) {
    sluice::progress_barrier(communicator);
    int const code = make();
    if (code == MPI_SUCCESS) sluice::expect_barriers_at_rma_window(*window, communicator);
    return code;
}

}  // namespace

// Parameters and arguments, with their parentheses, and the window.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_MAKES(NAME, PARAMETERS, ARGUMENTS)                                                  \
    int NAME PARAMETERS {                                                                          \
        return made(comm, win, [&] { return SLUICE_PMPI(NAME) ARGUMENTS; });                       \
    }
#define SLUICE_COLLECTIVE(NAME, PARAMETERS, ARGUMENTS)                                             \
    int NAME PARAMETERS {                                                                          \
        sluice::barrier_at_rma_window(win);                                                        \
        return SLUICE_PMPI(NAME) ARGUMENTS;                                                        \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define SLUICE_COUNTED(SUFFIX, UNIT)                                                               \
    SLUICE_MAKES(                                                                                  \
        MPI_Win_create##SUFFIX,                                                                    \
        (void* base, MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),        \
        (base, size, unit, info, comm, win))                                                       \
    SLUICE_MAKES(                                                                                  \
        MPI_Win_allocate##SUFFIX,                                                                  \
        (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),        \
        (size, unit, info, comm, base, win))                                                       \
    SLUICE_MAKES(                                                                                  \
        MPI_Win_allocate_shared##SUFFIX,                                                           \
        (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),        \
        (size, unit, info, comm, base, win))

extern "C" {

SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Aint)
#endif
SLUICE_MAKES(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win),
             (info, comm, win))

SLUICE_COLLECTIVE(MPI_Win_fence, (int assertion, MPI_Win win), (assertion, win))
SLUICE_COLLECTIVE(MPI_Win_set_info, (MPI_Win win, MPI_Info info), (win, info))

int MPI_Win_free(MPI_Win* win) {
    sluice::end_barriers_at_rma_window(*win);
    return SLUICE_PMPI(MPI_Win_free)(win);
}

int MPI_Win_post(MPI_Group origins, int assertion, MPI_Win win) {
    int const code = SLUICE_PMPI(MPI_Win_post)(origins, assertion, win);
    if (code == MPI_SUCCESS) sluice::tell_posted(win, origins);
    return code;
}

int MPI_Win_start(MPI_Group targets, int assertion, MPI_Win win) {
    sluice::await_posted(win, targets);
    return SLUICE_PMPI(MPI_Win_start)(targets, assertion, win);
}

int MPI_Win_wait(MPI_Win win) {
    int code = MPI_SUCCESS;
    auto const ask = [&](int* yes) { return PMPI_Win_test(win, yes); };
    bool const told = sluice::Progress::needs_callers() && sluice::asked_until_yes(ask, code);
    return told ? code : SLUICE_PMPI(MPI_Win_wait)(win);
}

// It does not block, but programs call it until the origins are ready.
int MPI_Win_test(MPI_Win win, int* flag) {
    if (sluice::Progress::needs_callers()) sluice::Progress::instance().poll_all();
    return SLUICE_PMPI(MPI_Win_test)(win, flag);
}

}  // extern "C"
