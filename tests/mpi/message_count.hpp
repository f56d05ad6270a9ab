// Counts the messages that the process gives to the MPI, whoever calls: the program's definitions
// of these functions come before the MPI's, and hand on. What the MPI does inside is not seen.
#pragma once
#include <mpi.h>

#include <atomic>
#include <dlfcn.h>

namespace message_count {

inline std::atomic<long> calls{0};

template <class Function> Function* next(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace message_count

// NOLINTBEGIN(bugprone-macro-parentheses)
#define COUNTED(NAME, PARAMETERS, ARGUMENTS)                                                       \
    [[gnu::visibility("default")]] int NAME PARAMETERS {                                           \
        static auto* const theirs = message_count::next<int PARAMETERS>(#NAME);                    \
        ++message_count::calls;                                                                    \
        return theirs ARGUMENTS;                                                                   \
    }
#define COUNTED_SEND(NAME)                                                                         \
    COUNTED(NAME,                                                                                  \
            (void const* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),   \
            (b, n, t, to, tag, c, r))
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

COUNTED_SEND(PMPI_Isend)
COUNTED_SEND(PMPI_Issend)
COUNTED(PMPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
        (b, n, t, from, tag, c, r))
COUNTED(PMPI_Send, (void const* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
        (b, n, t, to, tag, c))
COUNTED(PMPI_Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
        (b, n, t, from, tag, c, s))
COUNTED(PMPI_Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COUNTED(PMPI_Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r),
        (b, n, t, root, c, r))
COUNTED(PMPI_Barrier, (MPI_Comm c), (c))
COUNTED(PMPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COUNTED(PMPI_Allreduce, (void const* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (s, b, n, t, o, c))
COUNTED(PMPI_Iallreduce,
        (void const* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
        (s, b, n, t, o, c, r))
COUNTED(PMPI_Allgather,
        (void const* s, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, MPI_Comm c),
        (s, m, u, b, n, t, c))
COUNTED(PMPI_Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made))
COUNTED(PMPI_Comm_idup, (MPI_Comm c, MPI_Comm* made, MPI_Request* r), (c, made, r))

}  // extern "C"
#undef COUNTED_SEND
#undef COUNTED
