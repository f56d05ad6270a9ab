// The functions of sluice.h for collectives between memories.
#include "mpi/collective/collective_list.hpp"
#include "mpi/collective/started_collective.hpp"
#include "mpi/guard.hpp"
#include "mpi/requests/own_request.hpp"
#include "sluice/sluice.h"

#include <functional>
#include <memory>

namespace sluice {
namespace {

using StartInMpi = std::function<int(MPI_Request*)>;

/// One that is started already, and gone when it is complete.
class StartedOwn final : public OwnRequest {
public:
    explicit StartedOwn(PreparedCollective&& prepared) : started_(std::move(prepared)) {}

    int start() override { return started_.context().communicator().raise(MPI_ERR_REQUEST); }
    int wait(MPI_Status* status) override {
        set_status(status, 0);
        started_.wait();
        started_.finish();
        return started_.raise();
    }
    int test(int* complete, MPI_Status* status) override {
        if (!started_.complete()) Progress::instance().poll_all();
        if (!started_.complete()) started_.poke();  // As MPI_Test would.
        *complete = started_.complete();
        return *complete ? wait(status) : MPI_SUCCESS;
    }
    [[nodiscard]] int check_free() const override {
        return started_.context().communicator().raise(MPI_ERR_REQUEST);
    }
    [[nodiscard]] bool ends_when_complete() const noexcept override { return true; }

private:
    StartedCollective started_;
};

/// The same, of the MPI.
class CollectiveInMpi final : public OwnRequest {
public:
    explicit CollectiveInMpi(MPI_Request request) : request_(request) {}
    int start() override { return MPI_ERR_REQUEST; }
    int wait(MPI_Status* status) override { return PMPI_Wait(&request_, status); }
    int test(int* complete, MPI_Status* status) override {
        return PMPI_Test(&request_, complete, status);
    }
    [[nodiscard]] int check_free() const override { return MPI_ERR_REQUEST; }
    [[nodiscard]] bool ends_when_complete() const noexcept override { return true; }

private:
    MPI_Request request_;
};

/// One that has ended already, with a code that its wait tells.
class EndedOwn final : public OwnRequest {
public:
    explicit EndedOwn(int code) noexcept : code_(code) {}
    int start() override { return MPI_ERR_REQUEST; }
    int wait(MPI_Status* status) override {
        set_status(status, 0);
        return code_;
    }
    int test(int* complete, MPI_Status* status) override {
        *complete = 1;
        return wait(status);
    }
    [[nodiscard]] int check_free() const override { return MPI_ERR_REQUEST; }
    [[nodiscard]] bool ends_when_complete() const noexcept override { return true; }

private:
    int code_;
};

/// One that is started any number of times; each start is one of the first two above.
class PersistentOwn final : public OwnRequest {
public:
    PersistentOwn(PreparedCollective prepared, StartInMpi start_in_mpi)
        : prepared_(std::move(prepared)),
          start_in_mpi_(std::move(start_in_mpi)) {}

    int start() override {
        if (active_) return refuse();
        if (prepared_.context) {
            active_ = std::make_unique<StartedOwn>(PreparedCollective(prepared_));
            return MPI_SUCCESS;
        }
        MPI_Request request = MPI_REQUEST_NULL;
        int const code = start_in_mpi_(&request);
        if (code == MPI_SUCCESS) active_ = std::make_unique<CollectiveInMpi>(request);
        return code;
    }
    int wait(MPI_Status* status) override {
        set_status(status, 0);
        if (!active_) return MPI_SUCCESS;
        int const code = active_->wait(status);
        active_.reset();
        return code;
    }
    int test(int* complete, MPI_Status* status) override {
        *complete = 1;
        set_status(status, 0);
        if (!active_) return MPI_SUCCESS;
        int const code = active_->test(complete, status);
        if (*complete) active_.reset();
        return code;
    }
    [[nodiscard]] int check_free() const override { return active_ ? refuse() : MPI_SUCCESS; }

private:
    [[nodiscard]] int refuse() const {
        auto const& context = prepared_.context;
        return context ? context->communicator().raise(MPI_ERR_REQUEST) : MPI_ERR_REQUEST;
    }

    PreparedCollective prepared_;
    StartInMpi start_in_mpi_;
    std::unique_ptr<OwnRequest> active_;
};

int check(CollectiveArguments const& arguments, sluice_request* request) {
    if (!request) return MPI_ERR_ARG;
    *request = SLUICE_REQUEST_NULL;
    return arguments.communicator == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_SUCCESS;
}

template <class Start>
int begin(CollectiveArguments const& arguments, sluice_request* request, Start&& start_in_mpi) {
    if (int const wrong = check(arguments, request); wrong != MPI_SUCCESS) return wrong;
    PreparedCollective prepared;
    int const error = prepare(arguments, prepared, Starts::now);
    if (error != MPI_SUCCESS) return error;
    if (prepared.context) {
        *request = new StartedOwn(std::move(prepared));
        return MPI_SUCCESS;
    }
    MPI_Request in_mpi = MPI_REQUEST_NULL;
    int const failed = start_in_mpi(&in_mpi);
    if (failed == MPI_SUCCESS) *request = new CollectiveInMpi(in_mpi);
    return failed;
}

int init(CollectiveArguments const& arguments, sluice_request* request, StartInMpi start_in_mpi) {
    if (int const wrong = check(arguments, request); wrong != MPI_SUCCESS) return wrong;
    PreparedCollective prepared;
    int const error = prepare(arguments, prepared, Starts::later);
    if (error != MPI_SUCCESS) return error;
    *request = new PersistentOwn(std::move(prepared), std::move(start_in_mpi));
    return MPI_SUCCESS;
}

}  // namespace

OwnRequest* start_own(PreparedCollective&& prepared) { return new StartedOwn(std::move(prepared)); }

OwnRequest* ended_own(int code) { return new EndedOwn(code); }

}  // namespace sluice

// With a request of the MPI's own as the last argument where it has to serve the call.
#define SLUICE_OWN(NAME, PARAMETERS, ARGUMENTS, WHAT)                                              \
    int sluice_i##NAME(SLUICE_UNWRAPPED PARAMETERS, sluice_request* request) {                     \
        auto const start = [&](MPI_Request* in_mpi) {                                              \
            return PMPI_I##NAME(SLUICE_UNWRAPPED ARGUMENTS, in_mpi);                               \
        };                                                                                         \
        return sluice::guarded([&] { return sluice::begin(WHAT, request, start); });               \
    }                                                                                              \
    int sluice_##NAME##_init(SLUICE_UNWRAPPED PARAMETERS, sluice_request* request) {               \
        auto const start = [=](MPI_Request* in_mpi) {                                              \
            return PMPI_I##NAME(SLUICE_UNWRAPPED ARGUMENTS, in_mpi);                               \
        };                                                                                         \
        return sluice::guarded([&] { return sluice::init(WHAT, request, start); });                \
    }

extern "C" {

SLUICE_BARRIER(SLUICE_OWN)
SLUICE_EACH_COLLECTIVE(SLUICE_OWN, int, int)

}  // extern "C"
