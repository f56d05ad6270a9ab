// How requests are made, completed and used again. See requests.hpp.
#include "mpi/requests/requests.hpp"

#include <list>
#include <new>
#include <unordered_map>

namespace sluice {
namespace {

constexpr std::size_t spares_most = 64;

struct Requests {
    Requests() { spare.reserve(spares_most); }

    std::mutex mutex;  ///< Never held while the MPI is called, which calls release().
    std::unordered_map<MPI_Request, std::shared_ptr<Pending>> all;
    std::vector<Pending*> spare;  ///< Among all.
    std::list<std::unique_ptr<Started>> abandoned;
};
std::atomic<bool> any_abandoned{false};

Requests& requests() {
    static auto* const only = new Requests;
    return *only;
}

/// May be called more than once. Never returns an error: with the MPI's default handlers that would
/// end the job, though a file's default is to return. retire() reports it instead.
int query(void* state, MPI_Status* status) {
    Started const* const started = static_cast<Pending*>(state)->what.get();
    set_status(status, started && started->complete() ? started->bytes() : 0);
    return MPI_SUCCESS;
}

/// The MPI is about to free the request, and may give its handle to another one at once, in any
/// thread: it is forgotten now. Who has to retire it holds it.
int release(void* state) {
    std::shared_ptr<Pending> freed;  // Ends after the lock.
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(static_cast<Pending*>(state)->request);
    if (found == requests().all.end() || found->second.get() != state) return MPI_SUCCESS;
    freed = std::move(found->second);
    requests().all.erase(found);
    if (freed->what) --live_requests;
    return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

/// One that stands for nothing. The MPI forgets it, and calls release().
void free_in_mpi(Pending& pending) {
    MPI_Request request = pending.request;
    if (!std::exchange(pending.told_mpi, true)) PMPI_Grequest_complete(request);
    PMPI_Request_free(&request);
}

Pending* take_spare() {
    std::lock_guard const lock(requests().mutex);
    auto& spare = requests().spare;
    if (spare.empty()) return nullptr;
    Pending* const pending = spare.back();
    spare.pop_back();
    return pending;
}

/// One that the MPI was not told of serves another operation.
void give_back(Pending& pending) {
    {
        std::lock_guard const lock(requests().mutex);
        auto& spare = requests().spare;
        if (spare.size() < spares_most) return spare.push_back(&pending);
    }
    free_in_mpi(pending);
}

Pending* start_in_mpi() {
    auto made = std::make_shared<Pending>();
    Pending* const pending = made.get();
    if (PMPI_Grequest_start(query, release, cancel, pending, &pending->request) != MPI_SUCCESS)
        throw std::bad_alloc();
    try {
        std::lock_guard const lock(requests().mutex);
        requests().all.emplace(pending->request, made);
    } catch (...) {
        free_in_mpi(*pending);
        throw;
    }
    return pending;
}

}  // namespace

NewRequest::NewRequest() : pending_(take_spare()) {
    if (!pending_) pending_ = start_in_mpi();
}

NewRequest::~NewRequest() {
    if (pending_) give_back(*pending_);
}

MPI_Request NewRequest::stand_for(std::unique_ptr<Started> what) noexcept {
    Pending& pending = *std::exchange(pending_, nullptr);
    std::lock_guard const lock(requests().mutex);
    pending.what = std::move(what);
    ++live_requests;
    return pending.request;
}

Pending* find_request(MPI_Request request) {
    if (request == MPI_REQUEST_NULL || !any_requests()) return nullptr;
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(request);
    bool const is_ours = found != requests().all.end() && found->second->what;
    return is_ours ? found->second.get() : nullptr;
}

std::vector<Held> hold_requests(int count, MPI_Request const* all) {
    std::vector<Held> held;
    if (!any_requests()) return held;
    std::lock_guard const lock(requests().mutex);
    for (int i = 0; i < count; ++i) {
        if (all[i] == MPI_REQUEST_NULL) continue;
        auto const found = requests().all.find(all[i]);
        if (found == requests().all.end() || !found->second->what) continue;
        held.push_back({i, found->second});
    }
    return held;
}

void set_status(MPI_Status* status, Bytes bytes) {
    if (status == MPI_STATUS_IGNORE) return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

bool settle(Pending& pending) {
    if (!pending.what->complete()) return false;
    pending.what->finish();
    if (!std::exchange(pending.told_mpi, true)) PMPI_Grequest_complete(pending.request);
    return true;
}

void conclude(Pending& pending, MPI_Request& request, MPI_Status* status) {
    pending.what->finish();
    set_status(status, pending.what->bytes());
    request = MPI_REQUEST_NULL;
}

int retire(Pending& pending) {
    auto const what = std::move(pending.what);  // After release() nobody else finds it.
    if (!pending.told_mpi) {
        --live_requests;
        give_back(pending);
    }
    return what->raise();
}

void abandon(std::unique_ptr<Started> what) {
    std::lock_guard const lock(requests().mutex);
    requests().abandoned.push_back(std::move(what));
    any_abandoned = true;
}

void abandon(Pending& pending) {
    if (pending.told_mpi) return free_in_mpi(pending);
    abandon(std::move(pending.what));
    --live_requests;
    give_back(pending);
}

void reap(bool all) {
    if (!any_abandoned.load(std::memory_order_relaxed)) return;
    std::list<std::unique_ptr<Started>> left, done;
    {
        std::lock_guard const lock(requests().mutex);
        left.swap(requests().abandoned);
    }
    for (auto next = left.begin(); next != left.end();) {
        auto const one = next++;
        if (all || (*one)->complete()) done.splice(done.end(), left, one);
    }
    {
        std::lock_guard const lock(requests().mutex);
        requests().abandoned.splice(requests().abandoned.end(), left);
        any_abandoned = !requests().abandoned.empty();
    }
    for (auto const& what : done) {
        what->wait();
        what->finish();
    }
}

void free_spares() {
    while (Pending* const pending = take_spare()) free_in_mpi(*pending);
}

}  // namespace sluice
