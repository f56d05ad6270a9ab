// The Wait and Test families for Fortran. See fortran.hpp.
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

extern "C" {

SLUICE_FORTRAN(wait, (Integer request, void* to, Integer ierror),
               MPI_Wait(Updated<Request>(request), status(to)))
SLUICE_FORTRAN(waitall, (Integer count, Integer requests, void* to, Integer ierror),
               MPI_Waitall(*count, Requests(count, requests), statuses(to)))
SLUICE_FORTRAN(waitany, (Integer count, Integer requests, Integer index, void* to, Integer ierror),
               MPI_Waitany(*count, Requests(count, requests), Indices(index), status(to)))
SLUICE_FORTRAN(waitsome,
               (Integer count, Integer requests, Integer completed, Integer indices, void* to,
                Integer ierror),
               MPI_Waitsome(*count, Requests(count, requests), completed,
                            Indices(completed, indices), statuses(to)))
SLUICE_FORTRAN(test, (Integer request, Integer flag, void* to, Integer ierror),
               MPI_Test(Updated<Request>(request), Logical(flag), status(to)))
SLUICE_FORTRAN(testall, (Integer count, Integer requests, Integer flag, void* to, Integer ierror),
               MPI_Testall(*count, Requests(count, requests), Logical(flag), statuses(to)))
SLUICE_FORTRAN(testany,
               (Integer count, Integer requests, Integer index, Integer flag, void* to,
                Integer ierror),
               MPI_Testany(*count, Requests(count, requests), Indices(index), Logical(flag),
                           status(to)))
SLUICE_FORTRAN(testsome,
               (Integer count, Integer requests, Integer completed, Integer indices, void* to,
                Integer ierror),
               MPI_Testsome(*count, Requests(count, requests), completed,
                            Indices(completed, indices), statuses(to)))
SLUICE_FORTRAN(request_free, (Integer request, Integer ierror),
               MPI_Request_free(Updated<Request>(request)))
SLUICE_FORTRAN(cancel, (Integer request, Integer ierror), MPI_Cancel(Updated<Request>(request)))
SLUICE_FORTRAN(request_get_status, (Integer request, Integer flag, void* to, Integer ierror),
               MPI_Request_get_status(Request::to_c(request), Logical(flag), status(to)))
#ifdef SLUICE_HAVE_GET_STATUS_ALL
SLUICE_FORTRAN(request_get_status_all,
               (Integer count, Integer requests, Integer flag, void* to, Integer ierror),
               MPI_Request_get_status_all(*count, Requests(count, requests), Logical(flag),
                                          statuses(to)))
SLUICE_FORTRAN(request_get_status_any,
               (Integer count, Integer requests, Integer index, Integer flag, void* to,
                Integer ierror),
               MPI_Request_get_status_any(*count, Requests(count, requests), Indices(index),
                                          Logical(flag), status(to)))
SLUICE_FORTRAN(request_get_status_some,
               (Integer count, Integer requests, Integer completed, Integer indices, void* to,
                Integer ierror),
               MPI_Request_get_status_some(*count, Requests(count, requests), completed,
                                           Indices(completed, indices), statuses(to)))
#endif

}  // extern "C"
#endif
