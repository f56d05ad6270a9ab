// All ranks meet by a barrier, or by messages where only some ranks of a communicator take part.
// Both use communicators of the library, so that no receive of the program matches them. See
// progress_barrier.hpp.
#include "mpi/progress/progress_barrier.hpp"

#include "mpi/communicator/peers.hpp"
#include "mpi/file/file.hpp"
#include "mpi/progress/await.hpp"
#include "mpi/ranks.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace sluice {
namespace {

/// Communicators of our own to meet on, by the handle of what the program made on its own: that one
/// it may free before.
template <class Handle> class ProgressBarriers {
public:
    void expect(Handle handle, MPI_Comm communicator) {
        if (!all_have_sluice(communicator)) return;
        MPI_Comm own = MPI_COMM_NULL;
        if (PMPI_Comm_dup(communicator, &own) != MPI_SUCCESS) return;
        PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        std::lock_guard const lock(mutex_);
        all_[handle] = own;
    }
    /// MPI_COMM_NULL: there are none.
    MPI_Comm of(Handle handle) {
        std::lock_guard const lock(mutex_);
        auto const found = all_.find(handle);
        return found == all_.end() ? MPI_COMM_NULL : found->second;
    }
    void end(Handle handle) {
        MPI_Comm own = of(handle);
        if (own == MPI_COMM_NULL) return;
        {
            std::lock_guard const lock(mutex_);
            all_.erase(handle);
        }
        PMPI_Comm_free(&own);
    }

private:
    std::mutex mutex_;
    std::map<Handle, MPI_Comm> all_;
};

ProgressBarriers<MPI_File>& of_files() {
    static auto* const only = new ProgressBarriers<MPI_File>;
    return *only;
}
ProgressBarriers<MPI_Win>& of_windows() {
    static auto* const only = new ProgressBarriers<MPI_Win>;
    return *only;
}

MPI_Comm all_processes = MPI_COMM_NULL;  ///< A duplicate of MPI_COMM_WORLD.

/// Ranks in `communicator`; none where the group has other processes as well.
std::vector<int> members(MPI_Group group, MPI_Comm communicator) {
    std::vector<int> ranks = ranks_of(group, communicator);
    bool const foreign = std::ranges::find(ranks, MPI_UNDEFINED) != ranks.end();
    return foreign ? std::vector<int>{} : ranks;
}

/// A message without bytes to one rank and from another one. MPI grants every tag up to 32767.
void exchange(MPI_Comm communicator, int to, int from, int tag) {
    int const granted = tag & 0x7fff;
    MPI_Request arrival = MPI_REQUEST_NULL;
    PMPI_Irecv(nullptr, 0, MPI_BYTE, from, granted, communicator, &arrival);
    started([&](MPI_Request* request) {
        return PMPI_Isend(nullptr, 0, MPI_BYTE, to, granted, communicator, request);
    });
    await(arrival, MPI_STATUS_IGNORE);
}

/// The rank of another leader among all processes; MPI_UNDEFINED: it is not one of them.
int rank_among_all(MPI_Comm peer, int rank) {
    if (peer == MPI_COMM_NULL || rank < 0) return MPI_UNDEFINED;
    MPI_Group group = MPI_GROUP_NULL;
    (is_intercommunicator(peer) ? PMPI_Comm_remote_group : PMPI_Comm_group)(peer, &group);
    auto const all = ranks_of(group, all_processes);
    PMPI_Group_free(&group);
    auto const place = static_cast<std::size_t>(rank);
    return place < all.size() ? all[place] : MPI_UNDEFINED;
}

}  // namespace

/// A rank leaves the barrier of an intercommunicator when all of the other side are in it; only
/// those leave a second one that know the same of its own side.
void barrier_in_calls(MPI_Comm communicator) {
    if (communicator == MPI_COMM_NULL || !all_have_sluice(communicator)) return;
    auto const barrier = [&](MPI_Request* request) { return PMPI_Ibarrier(communicator, request); };
    started(barrier);
    if (is_intercommunicator(communicator)) started(barrier);
}

void progress_barrier(MPI_File handle) {
    if (!calls_drive()) return;
    auto const file = find_file(handle);
    progress_barrier(file ? file->team->communicator : of_files().of(handle));
}
void expect_barriers(MPI_File handle, MPI_Comm communicator) {
    if (calls_drive() && !find_file(handle)) of_files().expect(handle, communicator);
}
void end_barriers(MPI_File handle) {
    if (!calls_drive()) return;
    progress_barrier(handle);
    of_files().end(handle);
}

void barrier_at_rma_window(MPI_Win window) {
    if (calls_drive()) progress_barrier(of_windows().of(window));
}
void expect_barriers_at_rma_window(MPI_Win window, MPI_Comm communicator) {
    if (calls_drive()) of_windows().expect(window, communicator);
}
void end_barriers_at_rma_window(MPI_Win window) {
    if (!calls_drive()) return;
    barrier_at_rma_window(window);
    of_windows().end(window);
}

void tell_posted(MPI_Win window, MPI_Group origins) {
    MPI_Comm const own = calls_drive() ? of_windows().of(window) : MPI_COMM_NULL;
    if (own == MPI_COMM_NULL) return;
    for (int const origin : members(origins, own)) {
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(nullptr, 0, MPI_BYTE, origin, 0, own, &request);
        if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    }
}
void await_posted(MPI_Win window, MPI_Group targets) {
    MPI_Comm const own = calls_drive() ? of_windows().of(window) : MPI_COMM_NULL;
    if (own == MPI_COMM_NULL) return;
    for (int const target : members(targets, own)) {
        started([&](MPI_Request* request) {
            return PMPI_Irecv(nullptr, 0, MPI_BYTE, target, 0, own, request);
        });
    }
}

void expect_group_meetings(MPI_Comm world) {
    if (!calls_drive() || !all_have_sluice(world)) return;
    wait_for_unseen(world);
    if (PMPI_Comm_dup(world, &all_processes) != MPI_SUCCESS) all_processes = MPI_COMM_NULL;
    if (all_processes != MPI_COMM_NULL) {
        PMPI_Comm_set_errhandler(all_processes, MPI_ERRORS_RETURN);
    }
}
void end_group_meetings() {
    if (all_processes != MPI_COMM_NULL) PMPI_Comm_free(&all_processes);
}

/// Each tells those that are 1, 2, 4 ... places behind it what it has been told: in the end it has
/// heard of all.
void group_barrier(MPI_Group group, int tag) {
    if (all_processes == MPI_COMM_NULL || group == MPI_GROUP_NULL) return;
    auto const ranks = members(group, all_processes);
    auto const self = std::ranges::find(ranks, rank_in(all_processes));
    if (self == ranks.end()) return;
    auto const place = static_cast<std::size_t>(self - ranks.begin());
    std::size_t const size = ranks.size();
    for (std::size_t distance = 1; distance < size; distance *= 2) {
        exchange(all_processes, ranks[(place + distance) % size],
                 ranks[(place + size - distance) % size], tag);
    }
}

void barrier_of_both(MPI_Comm communicator, int leader, MPI_Comm peer, int remote, int tag) {
    if (!calls_drive()) return;
    progress_barrier(communicator);
    if (all_processes != MPI_COMM_NULL && rank_in(communicator) == leader) {
        int const other = rank_among_all(peer, remote);
        if (other != MPI_UNDEFINED) exchange(all_processes, other, other, tag);
    }
    progress_barrier(communicator);
}

}  // namespace sluice
