// The library's functions of the Wait and Test families, MPI_Request_free and
// MPI_Request_get_status. An array may mix the library's requests with others: the library settles
// its own, then the MPI's function does the rest.
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/requests/requests.hpp"

#include <set>

namespace sluice {
namespace {

/// Its own way of waiting is the fastest.
void wait_for(Started const& started) {
    if (started.complete()) return;
    WaitAccount* const account = started.account();
    double const began = account ? SteadyClock().now() : 0;
    started.wait();
    if (account) account->blocked(SteadyClock().now() - began);
}

/// Ours, and the MPI does not know that it is complete.
Pending* find_untold(MPI_Request request) {
    Pending* const pending = find_request(request);
    return pending && !pending->told_mpi ? pending : nullptr;
}

/// After a try to make it so.
bool is_complete(Pending const* pending) {
    if (!pending) return false;
    if (!pending->what->complete()) Progress::instance().poll_all();
    return pending->what->complete();
}

/// Our requests in an array, as they were before the MPI was called.
class Ours {
public:
    Ours(int count, MPI_Request const* requests)
        : requests_(requests),
          all_(hold_requests(count, requests)) {}

    /// Nothing of ours is concerned: the MPI's own function does it all. Without a helper any wait
    /// and any test moves operations on.
    [[nodiscard]] bool none() const noexcept { return all_.empty() && !Progress::needs_callers(); }

    [[nodiscard]] bool any() const noexcept { return !all_.empty(); }

    /// Settles what is complete; true when all are.
    bool settle_all() const {
        bool all = true;
        for (auto const& [i, pending] : all_) all &= settle(*pending);
        return all;
    }
    /// Blocks until `ask()`, which may call the MPI. Each account of those that are waited for
    /// counts the time.
    template <class Ask> void wait_until(Ask&& ask) const {
        if (all_.empty()) return Progress::instance().drive({.mpi_done = ask, .mpi_often = true});
        std::set<WaitAccount*> accounts;  // Each once, however many of its requests wait.
        for (auto const& [i, pending] : all_) {
            if (WaitAccount* const one = pending->what->account()) accounts.insert(one);
        }
        double const began = accounts.empty() ? 0 : SteadyClock().now();
        Started const& first = *all_.front().pending->what;
        Progress::instance().drive({.mpi_done = ask, .poke = [&] { first.poke(); }});
        for (WaitAccount* const one : accounts) one->blocked(SteadyClock().now() - began);
    }
    /// Where there are no others and the MPI knows of none that is complete: it need not be asked.
    [[nodiscard]] bool are_all(int count) const {
        return std::ssize(all_) == count &&
               std::ranges::none_of(all_, [](Held const& one) { return one.pending->told_mpi; });
    }
    void wait_for_each(MPI_Request* requests, MPI_Status* statuses) const {
        for (auto const& [i, pending] : all_) {
            wait_for(*pending->what);
            conclude(*pending, requests[i],
                     statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
        }
    }
    /// Retires the one at `index`, if it is ours and complete: the program has no handle of it any
    /// more. Returns the error class.
    int retire_at(int index) {
        auto const found = std::ranges::lower_bound(all_, index, {}, &Held::index);
        if (found == all_.end() || found->index != index) return MPI_SUCCESS;
        if (requests_[index] != MPI_REQUEST_NULL || !found->pending) return MPI_SUCCESS;
        return retire(*std::exchange(found->pending, nullptr));
    }

private:
    MPI_Request const* requests_;
    std::vector<Held> all_;
};

/// Told before anything is looked at: programs without file I/O call these functions most.
bool idle() noexcept { return !any_requests() && !Progress::needs_callers(); }

/// Ours are settled: whether the MPI may block on the others. Where nobody else moves operations on
/// they must be complete. (To test them is no way: MPICH's own file requests may then fail.)
bool rest_can_block(int count, MPI_Request const* requests) {
    if (!Progress::needs_callers()) return true;
    for (int i = 0; i < count; ++i) {
        int complete = 1;
        if (requests[i] == MPI_REQUEST_NULL) continue;
        PMPI_Request_get_status(requests[i], &complete, MPI_STATUS_IGNORE);
        if (!complete) return false;
    }
    return true;
}

bool failed(int code) noexcept { return code != MPI_SUCCESS; }

/// Retires the requests that the MPI completed and writes their errors into the statuses.
/// `place_of(k)` is the index in the array of the k-th status.
template <class PlaceOf>
int retire_many(Ours& ours, int completed, MPI_Status* statuses, int code, PlaceOf&& place_of) {
    bool const given = statuses != MPI_STATUSES_IGNORE;
    if (code == MPI_SUCCESS && given) {
        for (int k = 0; k < completed; ++k) statuses[k].MPI_ERROR = MPI_SUCCESS;
    }
    for (int k = 0; k < completed; ++k) {
        int const error = ours.retire_at(place_of(k));
        if (!failed(error)) continue;
        if (given) statuses[k].MPI_ERROR = error;
        code = MPI_ERR_IN_STATUS;
    }
    return code;
}

int itself(int k) noexcept { return k; }

#ifdef SLUICE_HAVE_GET_STATUS_ALL
/// The requests are constant in the standard, but not in Intel's header.
template <class Request> Request* requests_of(int (*)(int, Request*, int*, MPI_Status*));
using Queried = decltype(requests_of(PMPI_Request_get_status_all));

void settle_in(int count, MPI_Request const* requests) {
    Ours const ours(count, requests);
    if (ours.none()) return;
    Progress::instance().poll_all();
    ours.settle_all();
}
#endif

}  // namespace
}  // namespace sluice

using sluice::Ours;
using sluice::record::CompletionCall;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) try {
    CompletionCall const recorded("wait", 1, request);
    if (sluice::idle()) return PMPI_Wait(request, status);
    SLUICE_TRACED_TEST(MPI_Wait);
    if (auto* const pending = sluice::find_untold(*request)) {
        sluice::wait_for(*pending->what);
        sluice::conclude(*pending, *request, status);
        return sluice::retire(*pending);
    }
    Ours ours(1, request);
    if (ours.none()) return PMPI_Wait(request, status);
    if (!ours.any()) ours.wait_until([&] { return sluice::rest_can_block(1, request); });
    int const code = PMPI_Wait(request, status);
    int const error = ours.retire_at(0);
    return sluice::failed(error) ? error : code;
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) try {
    CompletionCall const recorded("waitall", count, requests);
    if (sluice::idle()) return PMPI_Waitall(count, requests, statuses);
    SLUICE_TRACED_TEST(MPI_Waitall);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Waitall(count, requests, statuses);
    if (ours.are_all(count)) {
        ours.wait_for_each(requests, statuses);
        return sluice::retire_many(ours, count, statuses, MPI_SUCCESS, sluice::itself);
    }
    ours.wait_until([&] { return ours.settle_all() && sluice::rest_can_block(count, requests); });
    int const code = PMPI_Waitall(count, requests, statuses);
    return sluice::retire_many(ours, count, statuses, code, sluice::itself);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) try {
    CompletionCall const recorded("waitany", count, requests);
    if (sluice::idle()) return PMPI_Waitany(count, requests, index, status);
    SLUICE_TRACED_TEST(MPI_Waitany);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Waitany(count, requests, index, status);
    int code = MPI_SUCCESS, done = 0;
    ours.wait_until([&] {
        ours.settle_all();
        code = PMPI_Testany(count, requests, index, &done, status);
        return done || sluice::failed(code);
    });
    if (!done || *index == MPI_UNDEFINED) return code;
    int const error = ours.retire_at(*index);
    return sluice::failed(error) ? error : code;
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                 MPI_Status* statuses) try {
    CompletionCall const recorded("waitsome", count, requests);
    if (sluice::idle()) return PMPI_Waitsome(count, requests, completed, indices, statuses);
    SLUICE_TRACED_TEST(MPI_Waitsome);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Waitsome(count, requests, completed, indices, statuses);
    int code = MPI_SUCCESS;
    ours.wait_until([&] {
        ours.settle_all();
        code = PMPI_Testsome(count, requests, completed, indices, statuses);
        return *completed != 0 || sluice::failed(code);
    });
    if (*completed == MPI_UNDEFINED) return code;
    return sluice::retire_many(ours, *completed, statuses, code, [&](int k) { return indices[k]; });
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) try {
    CompletionCall const recorded("test", 1, request);
    if (sluice::idle()) return PMPI_Test(request, flag, status);
    SLUICE_TRACED_TEST(MPI_Test);
    if (auto* const pending = sluice::find_untold(*request); sluice::is_complete(pending)) {
        *flag = 1;
        sluice::conclude(*pending, *request, status);
        return sluice::retire(*pending);
    }
    Ours ours(1, request);
    if (ours.none()) return PMPI_Test(request, flag, status);
    if (!ours.any()) sluice::Progress::instance().poll_all();
    int const code = PMPI_Test(request, flag, status);
    if (!*flag) return code;
    int const error = ours.retire_at(0);
    return sluice::failed(error) ? error : code;
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) try {
    CompletionCall const recorded("testall", count, requests);
    if (sluice::idle()) return PMPI_Testall(count, requests, flag, statuses);
    SLUICE_TRACED_TEST(MPI_Testall);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Testall(count, requests, flag, statuses);
    sluice::Progress::instance().poll_all();
    ours.settle_all();
    int const code = PMPI_Testall(count, requests, flag, statuses);
    if (!*flag) return code;
    return sluice::retire_many(ours, count, statuses, code, sluice::itself);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) try {
    CompletionCall const recorded("testany", count, requests);
    if (sluice::idle()) return PMPI_Testany(count, requests, index, flag, status);
    SLUICE_TRACED_TEST(MPI_Testany);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Testany(count, requests, index, flag, status);
    sluice::Progress::instance().poll_all();
    ours.settle_all();
    int const code = PMPI_Testany(count, requests, index, flag, status);
    if (!*flag || *index == MPI_UNDEFINED) return code;
    int const error = ours.retire_at(*index);
    return sluice::failed(error) ? error : code;
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices,
                 MPI_Status* statuses) try {
    CompletionCall const recorded("testsome", count, requests);
    if (sluice::idle()) return PMPI_Testsome(count, requests, completed, indices, statuses);
    SLUICE_TRACED_TEST(MPI_Testsome);
    Ours ours(count, requests);
    if (ours.none()) return PMPI_Testsome(count, requests, completed, indices, statuses);
    sluice::Progress::instance().poll_all();
    ours.settle_all();
    int const code = PMPI_Testsome(count, requests, completed, indices, statuses);
    if (*completed == MPI_UNDEFINED) return code;
    return sluice::retire_many(ours, *completed, statuses, code, [&](int k) { return indices[k]; });
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) try {
    sluice::Pending* const pending = sluice::find_request(request);
    if (pending || sluice::Progress::needs_callers()) sluice::Progress::instance().poll_all();
    if (pending) sluice::settle(*pending);
    return PMPI_Request_get_status(request, flag, status);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

#ifdef SLUICE_HAVE_GET_STATUS_ALL
int MPI_Request_get_status_all(int count, sluice::Queried requests, int* flag,
                               MPI_Status* statuses) try {
    sluice::settle_in(count, requests);
    return PMPI_Request_get_status_all(count, requests, flag, statuses);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Request_get_status_any(int count, sluice::Queried requests, int* index, int* flag,
                               MPI_Status* status) try {
    sluice::settle_in(count, requests);
    return PMPI_Request_get_status_any(count, requests, index, flag, status);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

int MPI_Request_get_status_some(int count, sluice::Queried requests, int* completed, int* indices,
                                MPI_Status* statuses) try {
    sluice::settle_in(count, requests);
    return PMPI_Request_get_status_some(count, requests, completed, indices, statuses);
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)
#endif

int MPI_Request_free(MPI_Request* request) try {
    CompletionCall const recorded("request_free", 1, request);
    auto const held = sluice::hold_requests(1, request);
    if (held.empty()) return PMPI_Request_free(request);
    sluice::abandon(*held.front().pending);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
SLUICE_NO_MEMORY(MPI_COMM_SELF)

}  // extern "C"
