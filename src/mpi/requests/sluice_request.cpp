// The functions of sluice.h for requests of any kind.
#include "mpi/guard.hpp"
#include "mpi/requests/own_request.hpp"
#include "sluice/sluice.h"

namespace {

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

int sluice_start(sluice_request request) {
    if (!request) return MPI_ERR_REQUEST;
    return sluice::guarded([&] { return request->start(); });
}

int sluice_startall(int count, sluice_request const* requests) {
    return for_all(count, [&](int i) { return sluice_start(requests[i]); });
}

int sluice_wait(sluice_request request, MPI_Status* status) {
    if (!request) return MPI_ERR_REQUEST;
    int const code = sluice::guarded([&] { return request->wait(status); });
    if (request->ends_when_complete()) delete request;
    return code;
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
    *complete = 0;
    if (!request) return MPI_ERR_REQUEST;
    int const code = sluice::guarded([&] { return request->test(complete, status); });
    if (*complete && request->ends_when_complete()) delete request;
    return code;
}

int sluice_request_free(sluice_request* request) {
    if (!request || !*request) return MPI_ERR_REQUEST;
    if (int const code = (*request)->check_free(); code != MPI_SUCCESS) return code;
    delete *request;
    *request = SLUICE_REQUEST_NULL;
    return MPI_SUCCESS;
}

}  // extern "C"
