// Generalized requests. See requests.hpp.
#include "api/requests.hpp"

#include "api/errors.hpp"

#include <unordered_map>

namespace sluice {
namespace {

struct Requests {
    std::mutex mutex;
    std::unordered_map<MPI_Request, std::unique_ptr<Pending>> all;
    std::vector<std::unique_ptr<Pending>> abandoned;
};
Requests& requests() {
    static auto* const only = new Requests;
    return *only;
}

/// May be called more than once. Never returns an error: with the MPI's default handlers that would
/// end the job, though a file's default is to return. retire() reports it instead.
int query(void* state, MPI_Status* status) {
    auto const& access = static_cast<Pending*>(state)->access;
    set_status(status, access.complete() ? access.bytes() : 0);
    return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

MPI_Request make_request(Access access) {
    auto pending = std::make_unique<Pending>();
    pending->access = std::move(access);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Grequest_start(query, release, cancel, pending.get(), &request);
    pending->request = request;
    std::lock_guard const lock(requests().mutex);
    requests().all[request] = std::move(pending);
    ++live_requests;
    return request;
}

Pending* find_request(MPI_Request request) {
    if (request == MPI_REQUEST_NULL || !any_requests()) return nullptr;
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(request);
    return found == requests().all.end() ? nullptr : found->second.get();
}

bool settle(Pending& pending) {
    if (!pending.access.complete()) return false;
    pending.access.finish();
    if (!std::exchange(pending.told_mpi, true)) PMPI_Grequest_complete(pending.request);
    return true;
}

int retire(Pending* pending) {
    std::unique_ptr<Pending> owned;
    {
        std::lock_guard const lock(requests().mutex);
        auto const found = requests().all.find(pending->request);
        owned = std::move(found->second);
        requests().all.erase(found);
        --live_requests;
    }
    return raise(owned->access.file->handle, owned->access.status());
}

void abandon(Pending& pending) {
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(pending.request);
    requests().abandoned.push_back(std::move(found->second));
    requests().all.erase(found);
    --live_requests;
}

void reap(bool all) {
    std::vector<std::unique_ptr<Pending>> done;
    {
        std::lock_guard const lock(requests().mutex);
        auto& left = requests().abandoned;
        for (auto& pending : left) {
            if (all || pending->access.complete()) done.push_back(std::move(pending));
        }
        std::erase(left, nullptr);
    }
    for (auto& pending : done) {
        pending->access.wait();
        settle(*pending);
        PMPI_Request_free(&pending->request);
    }
}

}  // namespace sluice
