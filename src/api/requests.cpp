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
std::atomic<int> live{0};

/// May be called more than once. Never returns an error: with the MPI's default handlers that would
/// end the job, though a file's default is to return. retire() reports it instead.
int query(void* state, MPI_Status* status) {
    auto const& pending = *static_cast<Pending*>(state);
    set_status(status, pending.operation->complete() ? pending.operation->bytes() : 0);
    return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

void set_status(MPI_Status* status, Bytes bytes) {
    if (status == MPI_STATUS_IGNORE) return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

MPI_Request make_request(std::shared_ptr<Operation> operation, std::shared_ptr<File> file) {
    auto pending = std::make_unique<Pending>();
    pending->operation = std::move(operation);
    pending->file = std::move(file);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Grequest_start(query, release, cancel, pending.get(), &request);
    pending->request = request;
    std::lock_guard const lock(requests().mutex);
    requests().all[request] = std::move(pending);
    ++live;
    return request;
}

bool any_requests() noexcept { return live.load(std::memory_order_relaxed) > 0; }

Pending* find_request(MPI_Request request) {
    if (request == MPI_REQUEST_NULL || !any_requests()) return nullptr;
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(request);
    return found == requests().all.end() ? nullptr : found->second.get();
}

bool settle(Pending& pending) {
    if (!pending.operation->complete()) return false;
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
        --live;
    }
    owned->file->completed(*owned->operation);
    return raise(owned->file->handle, owned->operation->status());
}

void abandon(Pending& pending) {
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(pending.request);
    requests().abandoned.push_back(std::move(found->second));
    requests().all.erase(found);
    --live;
}

void reap(bool all) {
    std::vector<std::unique_ptr<Pending>> done;
    {
        std::lock_guard const lock(requests().mutex);
        auto& left = requests().abandoned;
        for (auto& pending : left) {
            if (all || pending->operation->complete()) done.push_back(std::move(pending));
        }
        std::erase(left, nullptr);
    }
    for (auto& pending : done) {
        pending->file->wait(*pending->operation);
        settle(*pending);
        PMPI_Request_free(&pending->request);
        pending->file->completed(*pending->operation);
    }
}

}  // namespace sluice
