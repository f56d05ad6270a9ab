// Mode `calls`: MPI's own blocking functions, so that operations move on inside them. Those between
// two ranks become nonblocking ones that are waited for; before collective ones all ranks meet.
// Probes that do not block move operations on once. In the other mode everything here goes straight
// on.
#include "api/meet.hpp"
#include "api/next.hpp"
#include "api/peers.hpp"
#include "api/progress.hpp"

namespace sluice {
namespace {

bool needs_callers() noexcept { return Progress::needs_callers(); }

/// Until the MPI has completed the request; ends early when nothing else is under way.
int await(MPI_Request request, MPI_Status* status) {
    int code = MPI_SUCCESS, done = 0;
    Progress::instance().drive_until_mpi([&] {
        code = PMPI_Test(&request, &done, status);
        return done || code != MPI_SUCCESS || !needs_callers();
    });
    return done || code != MPI_SUCCESS ? code : PMPI_Wait(&request, status);
}

/// Starts with `start(&request)`, then waits.
template <class Start> int started(Start&& start, MPI_Status* status = MPI_STATUS_IGNORE) {
    MPI_Request request = MPI_REQUEST_NULL;
    int const code = start(&request);
    return code == MPI_SUCCESS ? await(request, status) : code;
}

/// Asks with `ask(&found)` until it finds something; false when nothing else is under way.
template <class Ask> bool found(Ask&& ask) {
    int yes = 0, code = MPI_SUCCESS;
    Progress::instance().drive_until_mpi([&] {
        code = ask(&yes);
        return yes || code != MPI_SUCCESS || !needs_callers();
    });
    return yes || code != MPI_SUCCESS;
}

}  // namespace

void meet(MPI_Comm communicator) {
    if (!settings().progress_in_calls || communicator == MPI_COMM_NULL) return;
    if (!settings().enabled || !all_have_sluice(communicator)) return;
    started([&](MPI_Request* request) { return PMPI_Ibarrier(communicator, request); });
}

}  // namespace sluice

using sluice::needs_callers;
using sluice::started;

#define SLUICE_SEND(NAME, START, COUNT)                                                            \
    int NAME(void const* buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {  \
        if (!needs_callers()) return SLUICE_NEXT(NAME)(buf, count, type, dest, tag, comm);         \
        return started(                                                                            \
            [&](MPI_Request* r) { return START(buf, count, type, dest, tag, comm, r); });          \
    }
#define SLUICE_RECV(NAME, START, COUNT)                                                            \
    int NAME(void* buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,        \
             MPI_Status* status) {                                                                 \
        if (!needs_callers())                                                                      \
            return SLUICE_NEXT(NAME)(buf, count, type, source, tag, comm, status);                 \
        return started(                                                                            \
            [&](MPI_Request* r) { return START(buf, count, type, source, tag, comm, r); },         \
            status);                                                                               \
    }
#define SLUICE_MRECV(NAME, START, COUNT)                                                           \
    int NAME(void* buf, COUNT count, MPI_Datatype type, MPI_Message* message,                      \
             MPI_Status* status) {                                                                 \
        if (!needs_callers()) return SLUICE_NEXT(NAME)(buf, count, type, message, status);         \
        return started([&](MPI_Request* r) { return START(buf, count, type, message, r); },        \
                       status);                                                                    \
    }
#define SLUICE_SENDRECV(NAME, SEND, RECV, COUNT)                                                   \
    int NAME(void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,   \
             void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,       \
             MPI_Comm comm, MPI_Status* status) {                                                  \
        if (!needs_callers()) {                                                                    \
            return SLUICE_NEXT(NAME)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,         \
                                     recvcount, recvtype, source, recvtag, comm, status);          \
        }                                                                                          \
        MPI_Request receive = MPI_REQUEST_NULL;                                                    \
        int const code = RECV(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);      \
        if (code != MPI_SUCCESS) return code;                                                      \
        int const sent = started([&](MPI_Request* r) {                                             \
            return SEND(sendbuf, sendcount, sendtype, dest, sendtag, comm, r);                     \
        });                                                                                        \
        int const received = sluice::await(receive, status);                                       \
        return sent != MPI_SUCCESS ? sent : received;                                              \
    }
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_SEND(MPI_Send##SUFFIX, PMPI_Isend##SUFFIX, COUNT)                                       \
    SLUICE_SEND(MPI_Ssend##SUFFIX, PMPI_Issend##SUFFIX, COUNT)                                     \
    SLUICE_SEND(MPI_Rsend##SUFFIX, PMPI_Irsend##SUFFIX, COUNT)                                     \
    SLUICE_RECV(MPI_Recv##SUFFIX, PMPI_Irecv##SUFFIX, COUNT)                                       \
    SLUICE_MRECV(MPI_Mrecv##SUFFIX, PMPI_Imrecv##SUFFIX, COUNT)                                    \
    SLUICE_SENDRECV(MPI_Sendrecv##SUFFIX, PMPI_Isend##SUFFIX, PMPI_Irecv##SUFFIX, COUNT)

// A collective function: its parameters, its arguments (with their parentheses), and who meets.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_COLLECTIVE(NAME, PARAMETERS, ARGUMENTS, COMMUNICATOR)                               \
    int NAME PARAMETERS {                                                                          \
        sluice::meet(COMMUNICATOR);                                                                \
        return SLUICE_NEXT(NAME) ARGUMENTS;                                                        \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define SLUICE_COLLECTIVE_COUNTED(SUFFIX, COUNT, PLACE)                                            \
    SLUICE_COLLECTIVE(MPI_Bcast##SUFFIX,                                                           \
                      (void* buf, COUNT n, MPI_Datatype type, int root, MPI_Comm comm),            \
                      (buf, n, type, root, comm), comm)                                            \
    SLUICE_COLLECTIVE(MPI_Gather##SUFFIX,                                                          \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, int root, MPI_Comm comm),                                  \
                      (s, sn, st, r, rn, rt, root, comm), comm)                                    \
    SLUICE_COLLECTIVE(MPI_Scatter##SUFFIX,                                                         \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, int root, MPI_Comm comm),                                  \
                      (s, sn, st, r, rn, rt, root, comm), comm)                                    \
    SLUICE_COLLECTIVE(MPI_Gatherv##SUFFIX,                                                         \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT const rn[],        \
                       PLACE const rp[], MPI_Datatype rt, int root, MPI_Comm comm),                \
                      (s, sn, st, r, rn, rp, rt, root, comm), comm)                                \
    SLUICE_COLLECTIVE(MPI_Scatterv##SUFFIX,                                                        \
                      (void const* s, COUNT const sn[], PLACE const sp[], MPI_Datatype st,         \
                       void* r, COUNT rn, MPI_Datatype rt, int root, MPI_Comm comm),               \
                      (s, sn, sp, st, r, rn, rt, root, comm), comm)                                \
    SLUICE_COLLECTIVE(MPI_Allgather##SUFFIX,                                                       \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Allgatherv##SUFFIX,                                                      \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT const rn[],        \
                       PLACE const rp[], MPI_Datatype rt, MPI_Comm comm),                          \
                      (s, sn, st, r, rn, rp, rt, comm), comm)                                      \
    SLUICE_COLLECTIVE(MPI_Alltoall##SUFFIX,                                                        \
                      (void const* s, COUNT sn, MPI_Datatype st, void* r, COUNT rn,                \
                       MPI_Datatype rt, MPI_Comm comm),                                            \
                      (s, sn, st, r, rn, rt, comm), comm)                                          \
    SLUICE_COLLECTIVE(MPI_Alltoallv##SUFFIX,                                                       \
                      (void const* s, COUNT const sn[], PLACE const sp[], MPI_Datatype st,         \
                       void* r, COUNT const rn[], PLACE const rp[], MPI_Datatype rt,               \
                       MPI_Comm comm),                                                             \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)                                  \
    SLUICE_COLLECTIVE(MPI_Alltoallw##SUFFIX,                                                       \
                      (void const* s, COUNT const sn[], PLACE const sp[], MPI_Datatype const st[], \
                       void* r, COUNT const rn[], PLACE const rp[], MPI_Datatype const rt[],       \
                       MPI_Comm comm),                                                             \
                      (s, sn, sp, st, r, rn, rp, rt, comm), comm)                                  \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Reduce##SUFFIX,                                                                        \
        (void const* s, void* r, COUNT n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),  \
        (s, r, n, type, op, root, comm), comm)                                                     \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Allreduce##SUFFIX,                                                                     \
        (void const* s, void* r, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),            \
        (s, r, n, type, op, comm), comm)                                                           \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Reduce_scatter##SUFFIX,                                                                \
        (void const* s, void* r, COUNT const n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),    \
        (s, r, n, type, op, comm), comm)                                                           \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Reduce_scatter_block##SUFFIX,                                                          \
        (void const* s, void* r, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),            \
        (s, r, n, type, op, comm), comm)                                                           \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Scan##SUFFIX,                                                                          \
        (void const* s, void* r, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),            \
        (s, r, n, type, op, comm), comm)                                                           \
    SLUICE_COLLECTIVE(                                                                             \
        MPI_Exscan##SUFFIX,                                                                        \
        (void const* s, void* r, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),            \
        (s, r, n, type, op, comm), comm)

extern "C" {

SLUICE_COUNTED(, int)
SLUICE_COLLECTIVE_COUNTED(, int, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
SLUICE_COLLECTIVE_COUNTED(_c, MPI_Count, MPI_Aint)
#endif

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    bool const seen = needs_callers() && sluice::found([&](int* yes) {
                          return PMPI_Iprobe(source, tag, comm, yes, status);
                      });
    return seen ? MPI_SUCCESS : SLUICE_NEXT(MPI_Probe)(source, tag, comm, status);
}

// These do not block, but programs call them until they find something.
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (needs_callers()) sluice::Progress::instance().nudge();
    return SLUICE_NEXT(MPI_Iprobe)(source, tag, comm, flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (needs_callers()) sluice::Progress::instance().nudge();
    return SLUICE_NEXT(MPI_Improbe)(source, tag, comm, flag, message, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    bool const seen = needs_callers() && sluice::found([&](int* yes) {
                          return PMPI_Improbe(source, tag, comm, yes, message, status);
                      });
    return seen ? MPI_SUCCESS : SLUICE_NEXT(MPI_Mprobe)(source, tag, comm, message, status);
}

SLUICE_COLLECTIVE(MPI_Barrier, (MPI_Comm comm), (comm), comm)
SLUICE_COLLECTIVE(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made),
                  (comm, info, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
                  (comm, color, key, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_split_type,
                  (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
                  (comm, type, key, info, made), comm)
SLUICE_COLLECTIVE(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made),
                  (comm, group, made), comm)
SLUICE_COLLECTIVE(MPI_Win_create,
                  (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
                  (base, size, unit, info, comm, win), comm)
SLUICE_COLLECTIVE(MPI_Win_allocate,
                  (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
                  (size, unit, info, comm, base, win), comm)
SLUICE_COLLECTIVE(MPI_Win_allocate_shared,
                  (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
                  (size, unit, info, comm, base, win), comm)

}  // extern "C"
