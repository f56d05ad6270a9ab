// Mode `calls`: operations move on inside the MPI's blocking functions. A blocking function between
// two ranks becomes a nonblocking one that is waited for, all ranks meet before a collective one,
// and a probe that does not block moves operations on once. In mode `thread` each call goes
// straight to the MPI.
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/progress/await.hpp"
#include "mpi/progress/progress_barrier.hpp"

#include <vector>

namespace sluice {
namespace {

bool needs_callers() noexcept { return Progress::needs_callers(); }

/// Starts both, then waits for both. Where nothing can be sent, nothing need arrive either.
template <class Send, class Receive>
int sent_and_received(Send&& send, Receive&& receive, MPI_Status* status) {
    MPI_Request arrival = MPI_REQUEST_NULL;
    int const code = receive(&arrival);
    if (code != MPI_SUCCESS) return code;
    int const sent = started(send);
    if (sent != MPI_SUCCESS) PMPI_Cancel(&arrival);
    int const received = await(arrival, status);
    return sent != MPI_SUCCESS ? sent : received;
}

}  // namespace
}  // namespace sluice

using sluice::needs_callers;
using sluice::started;

#define SLUICE_SEND(NAME, START, COUNT)                                                            \
    int NAME(void const* buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {  \
        if (!needs_callers()) return SLUICE_PMPI(NAME)(buf, count, type, dest, tag, comm);         \
        return started(                                                                            \
            [&](MPI_Request* r) { return START(buf, count, type, dest, tag, comm, r); });          \
    }
#define SLUICE_RECV(NAME, START, COUNT)                                                            \
    int NAME(void* buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,        \
             MPI_Status* status) {                                                                 \
        if (!needs_callers())                                                                      \
            return SLUICE_PMPI(NAME)(buf, count, type, source, tag, comm, status);                 \
        return started(                                                                            \
            [&](MPI_Request* r) { return START(buf, count, type, source, tag, comm, r); },         \
            status);                                                                               \
    }
#define SLUICE_MRECV(NAME, START, COUNT)                                                           \
    int NAME(void* buf, COUNT count, MPI_Datatype type, MPI_Message* message,                      \
             MPI_Status* status) {                                                                 \
        if (!needs_callers()) return SLUICE_PMPI(NAME)(buf, count, type, message, status);         \
        return started([&](MPI_Request* r) { return START(buf, count, type, message, r); },        \
                       status);                                                                    \
    }
#define SLUICE_SENDRECV(NAME, SEND, RECV, COUNT)                                                   \
    int NAME(void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,   \
             void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,       \
             MPI_Comm comm, MPI_Status* status) {                                                  \
        if (!needs_callers()) {                                                                    \
            return SLUICE_PMPI(NAME)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,         \
                                     recvcount, recvtype, source, recvtag, comm, status);          \
        }                                                                                          \
        return sluice::sent_and_received(                                                          \
            [&](MPI_Request* r) {                                                                  \
                return SEND(sendbuf, sendcount, sendtype, dest, sendtag, comm, r);                 \
            },                                                                                     \
            [&](MPI_Request* r) {                                                                  \
                return RECV(recvbuf, recvcount, recvtype, source, recvtag, comm, r);               \
            },                                                                                     \
            status);                                                                               \
    }
// What is sent is packed first, as what arrives takes its place.
#define SLUICE_REPLACE(NAME, SEND, RECV, SIZE, PACK, COUNT)                                        \
    int NAME(void* buf, COUNT count, MPI_Datatype type, int dest, int sendtag, int source,         \
             int recvtag, MPI_Comm comm, MPI_Status* status) try {                                 \
        if (!needs_callers())                                                                      \
            return SLUICE_PMPI(NAME)(buf, count, type, dest, sendtag, source, recvtag, comm,       \
                                     status);                                                      \
        COUNT size = 0, used = 0;                                                                  \
        int code = SIZE(count, type, comm, &size);                                                 \
        if (code != MPI_SUCCESS) return code;                                                      \
        std::vector<char> packed(static_cast<std::size_t>(size));                                  \
        code = PACK(buf, count, type, packed.data(), size, &used, comm);                           \
        if (code != MPI_SUCCESS) return code;                                                      \
        return sluice::sent_and_received(                                                          \
            [&](MPI_Request* r) {                                                                  \
                return SEND(packed.data(), used, MPI_PACKED, dest, sendtag, comm, r);              \
            },                                                                                     \
            [&](MPI_Request* r) { return RECV(buf, count, type, source, recvtag, comm, r); },      \
            status);                                                                               \
    }                                                                                              \
    SLUICE_NO_MEMORY(comm)
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_SEND(MPI_Send##SUFFIX, PMPI_Isend##SUFFIX, COUNT)                                       \
    SLUICE_SEND(MPI_Ssend##SUFFIX, PMPI_Issend##SUFFIX, COUNT)                                     \
    SLUICE_SEND(MPI_Rsend##SUFFIX, PMPI_Irsend##SUFFIX, COUNT)                                     \
    SLUICE_RECV(MPI_Recv##SUFFIX, PMPI_Irecv##SUFFIX, COUNT)                                       \
    SLUICE_MRECV(MPI_Mrecv##SUFFIX, PMPI_Imrecv##SUFFIX, COUNT)                                    \
    SLUICE_SENDRECV(MPI_Sendrecv##SUFFIX, PMPI_Isend##SUFFIX, PMPI_Irecv##SUFFIX, COUNT)           \
    SLUICE_REPLACE(MPI_Sendrecv_replace##SUFFIX, PMPI_Isend##SUFFIX, PMPI_Irecv##SUFFIX,           \
                   PMPI_Pack_size##SUFFIX, PMPI_Pack##SUFFIX, COUNT)

// A collective function: its parameters, its arguments (with their parentheses), and who meets.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SLUICE_COLLECTIVE(NAME, PARAMETERS, ARGUMENTS, COMMUNICATOR)                               \
    int NAME PARAMETERS {                                                                          \
        sluice::progress_barrier(COMMUNICATOR);                                                    \
        return SLUICE_PMPI(NAME) ARGUMENTS;                                                        \
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
    int code = MPI_SUCCESS;
    auto const ask = [&](int* yes) { return PMPI_Iprobe(source, tag, comm, yes, status); };
    if (needs_callers() && sluice::asked_until_yes(ask, code)) return code;
    return SLUICE_PMPI(MPI_Probe)(source, tag, comm, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    int code = MPI_SUCCESS;
    auto const ask = [&](int* yes) {
        return PMPI_Improbe(source, tag, comm, yes, message, status);
    };
    if (needs_callers() && sluice::asked_until_yes(ask, code)) return code;
    return SLUICE_PMPI(MPI_Mprobe)(source, tag, comm, message, status);
}

// These do not block, but programs call them until they find something.
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (needs_callers()) sluice::Progress::instance().poll_all();
    return SLUICE_PMPI(MPI_Iprobe)(source, tag, comm, flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (needs_callers()) sluice::Progress::instance().poll_all();
    return SLUICE_PMPI(MPI_Improbe)(source, tag, comm, flag, message, status);
}

#ifdef SLUICE_HAVE_PARTITIONS
int MPI_Parrived(MPI_Request request, int partition, int* flag) {
    if (needs_callers()) sluice::Progress::instance().poll_all();
    return SLUICE_PMPI(MPI_Parrived)(request, partition, flag);
}
#endif

SLUICE_COLLECTIVE(MPI_Barrier, (MPI_Comm comm), (comm), comm)

}  // extern "C"
