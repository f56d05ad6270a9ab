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
std::atomic<bool> any_abandoned{false};

Requests& requests() {
    static auto* const only = new Requests;
    return *only;
}

class StartedAccess final : public Started {
public:
    explicit StartedAccess(Access access) : access_(std::move(access)) {}
    [[nodiscard]] bool complete() const noexcept override { return access_.complete(); }
    void wait() const override { access_.wait(); }
    void poke() const override { access_.file->team->poke(); }
    [[nodiscard]] File* file() const noexcept override { return access_.file.get(); }
    void finish() override { access_.finish(); }
    [[nodiscard]] Bytes bytes() const override { return access_.bytes(); }
    int raise() const override { return sluice::raise(access_.file->handle, access_.status()); }

private:
    Access access_;
};

/// May be called more than once. Never returns an error: with the MPI's default handlers that would
/// end the job, though a file's default is to return. retire() reports it instead.
int query(void* state, MPI_Status* status) {
    Started const& started = *static_cast<Pending*>(state)->what;
    set_status(status, started.complete() ? started.bytes() : 0);
    return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

MPI_Request make_request(Access access) {
    return make_request(std::make_unique<StartedAccess>(std::move(access)));
}

MPI_Request make_request(std::unique_ptr<Started> what) {
    auto pending = std::make_unique<Pending>();
    pending->what = std::move(what);
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
    if (!pending.what->complete()) return false;
    pending.what->finish();
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
    return owned->what->raise();
}

void abandon(Pending& pending) {
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(pending.request);
    requests().abandoned.push_back(std::move(found->second));
    requests().all.erase(found);
    --live_requests;
    any_abandoned = true;
}

void reap(bool all) {
    if (!any_abandoned.load(std::memory_order_relaxed)) return;
    std::vector<std::unique_ptr<Pending>> done;
    {
        std::lock_guard const lock(requests().mutex);
        auto& left = requests().abandoned;
        for (auto& pending : left) {
            if (all || pending->what->complete()) done.push_back(std::move(pending));
        }
        std::erase(left, nullptr);
        any_abandoned = !left.empty();
    }
    for (auto& pending : done) {
        pending->what->wait();
        settle(*pending);
        PMPI_Request_free(&pending->request);
    }
}

}  // namespace sluice
