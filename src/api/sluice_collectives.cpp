// The functions of sluice.h for collectives between memories.
#include "api/collective_list.hpp"
#include "api/own_request.hpp"
#include "api/started_collective.hpp"
#include "sluice/sluice.h"

#include <functional>
#include <optional>

namespace sluice {
namespace {

using StartInMpi = std::function<int(MPI_Request*)>;

/// Ends what is under way with the MPI or here.
class OwnCollective final : public OwnRequest {
public:
    /// A persistent one.
    OwnCollective(PreparedCollective prepared, StartInMpi start_in_mpi)
        : prepared_(std::move(prepared)),
          start_in_mpi_(std::move(start_in_mpi)),
          is_persistent_(true) {}
    /// Those that are started already.
    explicit OwnCollective(PreparedCollective prepared)
        : started_(std::in_place, std::move(prepared)) {}
    explicit OwnCollective(MPI_Request in_mpi) : in_mpi_(in_mpi) {}

    int start() override {
        if (active() || !is_persistent_) return refuse();
        if (!prepared_.context) return start_in_mpi_(&in_mpi_);
        started_.emplace(prepared_);
        return MPI_SUCCESS;
    }
    int wait(MPI_Status* status) override {
        if (in_mpi_ != MPI_REQUEST_NULL) return PMPI_Wait(&in_mpi_, status);
        set_status(status, 0);
        if (!started_) return MPI_SUCCESS;
        started_->wait();
        int const code = started_->raise();
        started_.reset();
        return code;
    }
    int test(int* complete, MPI_Status* status) override {
        if (in_mpi_ != MPI_REQUEST_NULL) return PMPI_Test(&in_mpi_, complete, status);
        if (started_ && !started_->complete()) Progress::instance().nudge();
        *complete = !started_ || started_->complete();
        return *complete ? wait(status) : MPI_SUCCESS;
    }
    [[nodiscard]] int check_free() const override { return active() ? refuse() : MPI_SUCCESS; }
    [[nodiscard]] bool ends_when_complete() const noexcept override { return !is_persistent_; }

private:
    [[nodiscard]] bool active() const noexcept {
        return started_ || in_mpi_ != MPI_REQUEST_NULL || !is_persistent_;
    }
    [[nodiscard]] int refuse() const {
        auto const& communicator = prepared_.communicator;
        return communicator ? communicator->raise(MPI_ERR_REQUEST) : MPI_ERR_REQUEST;
    }

    PreparedCollective prepared_;
    StartInMpi start_in_mpi_;
    bool is_persistent_ = false;
    std::optional<StartedCollective> started_;  ///< While active.
    MPI_Request in_mpi_ = MPI_REQUEST_NULL;     ///< The same, of the MPI.
};

int check(CollectiveArguments const& arguments, sluice_request* request) {
    if (!request) return MPI_ERR_ARG;
    *request = SLUICE_REQUEST_NULL;
    return arguments.communicator == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_SUCCESS;
}

template <class Start>
int begin(CollectiveArguments const& arguments, sluice_request* request, Start&& start_in_mpi) {
    if (int const error = check(arguments, request); error != MPI_SUCCESS) return error;
    PreparedCollective prepared;
    if (int const error = prepare(arguments, prepared); error != MPI_SUCCESS) return error;
    if (prepared.context) {
        *request = new OwnCollective(std::move(prepared));
        return MPI_SUCCESS;
    }
    MPI_Request in_mpi = MPI_REQUEST_NULL;
    int const error = start_in_mpi(&in_mpi);
    if (error == MPI_SUCCESS) *request = new OwnCollective(in_mpi);
    return error;
}

int init(CollectiveArguments const& arguments, sluice_request* request, StartInMpi start_in_mpi) {
    if (int const error = check(arguments, request); error != MPI_SUCCESS) return error;
    PreparedCollective prepared;
    if (int const error = prepare(arguments, prepared); error != MPI_SUCCESS) return error;
    *request = new OwnCollective(std::move(prepared), std::move(start_in_mpi));
    return MPI_SUCCESS;
}

}  // namespace

OwnRequest* start_own(PreparedCollective prepared) {
    return new OwnCollective(std::move(prepared));
}

OwnRequest* completed_own() { return new OwnCollective(MPI_REQUEST_NULL); }

}  // namespace sluice

// With a request of the MPI's own as the last argument where it has to serve the call.
#define SLUICE_OWN(NAME, PARAMETERS, ARGUMENTS, WHAT)                                              \
    int sluice_i##NAME(SLUICE_UNWRAPPED PARAMETERS, sluice_request* request) {                     \
        return sluice::begin(WHAT, request, [&](MPI_Request* in_mpi) {                             \
            return PMPI_I##NAME(SLUICE_UNWRAPPED ARGUMENTS, in_mpi);                               \
        });                                                                                        \
    }                                                                                              \
    int sluice_##NAME##_init(SLUICE_UNWRAPPED PARAMETERS, sluice_request* request) {               \
        return sluice::init(WHAT, request, [=](MPI_Request* in_mpi) {                              \
            return PMPI_I##NAME(SLUICE_UNWRAPPED ARGUMENTS, in_mpi);                               \
        });                                                                                        \
    }

extern "C" {

SLUICE_BARRIER(SLUICE_OWN)
SLUICE_EACH_COLLECTIVE(SLUICE_OWN, int, int)

}  // extern "C"
