// Generalized requests. See requests.hpp.
#include "api/requests.hpp"

#include "api/errors.hpp"

#include <unordered_map>

namespace sluice {
namespace {

struct Requests {
    std::mutex mutex;
    std::unordered_map<MPI_Request, std::unique_ptr<Pending>> all;
    std::vector<Pending*> spare;  ///< Among all.
    std::vector<std::unique_ptr<Pending>> abandoned;
};
constexpr std::size_t spares_most = 64;
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
    Started const* const started = static_cast<Pending*>(state)->what.get();
    set_status(status, started && started->complete() ? started->bytes() : 0);
    return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }

int cancel(void*, int) { return MPI_SUCCESS; }

void free_in_mpi(Pending& spare) {
    spare.told_mpi = true;
    MPI_Request request = spare.request;
    PMPI_Grequest_complete(request);
    PMPI_Request_free(&request);
}

}  // namespace

MPI_Request make_request(Access access) {
    return make_request(std::make_unique<StartedAccess>(std::move(access)));
}

MPI_Request make_request(std::unique_ptr<Started> what) {
    ++live_requests;
    {
        std::lock_guard const lock(requests().mutex);
        if (auto& spare = requests().spare; !spare.empty()) {
            Pending& pending = *spare.back();
            spare.pop_back();
            pending.what = std::move(what);
            return pending.request;
        }
    }
    auto pending = std::make_unique<Pending>();
    pending->what = std::move(what);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Grequest_start(query, release, cancel, pending.get(), &request);
    pending->request = request;
    std::lock_guard const lock(requests().mutex);
    requests().all[request] = std::move(pending);
    return request;
}

Pending* find_request(MPI_Request request) {
    if (request == MPI_REQUEST_NULL || !any_requests()) return nullptr;
    std::lock_guard const lock(requests().mutex);
    auto const found = requests().all.find(request);
    bool const is_ours = found != requests().all.end() && found->second->what;
    return is_ours ? found->second.get() : nullptr;
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
    std::unique_ptr<Started> what;
    {
        std::lock_guard const lock(requests().mutex);
        what = std::move(pending.what);
        --live_requests;
        if (!pending.told_mpi && requests().spare.size() >= spares_most) free_in_mpi(pending);
        if (pending.told_mpi)
            requests().all.erase(pending.request);
        else
            requests().spare.push_back(&pending);
    }
    return what->raise();
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

void free_spares() {
    std::lock_guard const lock(requests().mutex);
    for (Pending* const pending : std::exchange(requests().spare, {})) {
        free_in_mpi(*pending);
        requests().all.erase(pending->request);
    }
}

}  // namespace sluice
