// The functions of sluice.h for persistent collective accesses.
#include "api/errors.hpp"
#include "api/persistent.hpp"
#include "sluice/sluice.h"

/// What the handle of C points to.
struct sluice_request_s {
    std::unique_ptr<sluice::Persistent> access;
};

namespace {

using sluice::AccessArguments;
using sluice::Direction;

int init(AccessArguments const& arguments, sluice_request* request) {
    if (!request) return MPI_ERR_ARG;
    *request = SLUICE_REQUEST_NULL;
    if (arguments.handle == MPI_FILE_NULL) return MPI_ERR_FILE;
    auto const file = sluice::find_file(arguments.handle);
    auto status = sluice::Status::ok;
    auto made = file && file->served() ? sluice::Persistent::make(file, arguments, status)
                                       : sluice::Persistent::make_in_mpi(arguments);
    if (!made) return sluice::raise(arguments.handle, status);
    *request = new sluice_request_s{std::move(made)};
    return MPI_SUCCESS;
}

/// `act(i)` for all; the first error, but none is left out.
template <class Act> int for_all(int count, Act&& act) {
    int first = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        int const code = act(i);
        if (first == MPI_SUCCESS) first = code;
    }
    return first;
}

}  // namespace

extern "C" {

int sluice_write_at_all_init(MPI_File file, MPI_Offset offset, void const* buffer, MPI_Count count,
                             MPI_Datatype type, sluice_request* request) {
    return init({file, Direction::write, true, offset, const_cast<void*>(buffer), count, type},
                request);
}

int sluice_read_at_all_init(MPI_File file, MPI_Offset offset, void* buffer, MPI_Count count,
                            MPI_Datatype type, sluice_request* request) {
    return init({file, Direction::read, true, offset, buffer, count, type}, request);
}

int sluice_start(sluice_request request) {
    return request ? request->access->start() : MPI_ERR_REQUEST;
}

int sluice_startall(int count, sluice_request const* requests) {
    return for_all(count, [&](int i) { return sluice_start(requests[i]); });
}

int sluice_wait(sluice_request request, MPI_Status* status) {
    return request ? request->access->wait(status) : MPI_ERR_REQUEST;
}

int sluice_waitall(int count, sluice_request const* requests, MPI_Status* statuses) {
    bool const ignored = statuses == MPI_STATUSES_IGNORE;
    return for_all(count, [&](int i) {
        int const code = sluice_wait(requests[i], ignored ? MPI_STATUS_IGNORE : &statuses[i]);
        if (!ignored) statuses[i].MPI_ERROR = code;
        return code;
    });
}

int sluice_test(sluice_request request, int* complete, MPI_Status* status) {
    if (!complete) return MPI_ERR_ARG;
    return request ? request->access->test(complete, status) : MPI_ERR_REQUEST;
}

int sluice_request_free(sluice_request* request) {
    if (!request || !*request) return MPI_ERR_REQUEST;
    if (int const code = (*request)->access->check_free(); code != MPI_SUCCESS) return code;
    delete *request;
    *request = SLUICE_REQUEST_NULL;
    return MPI_SUCCESS;
}

}  // extern "C"
