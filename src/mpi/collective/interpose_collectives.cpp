// The library's nonblocking collectives between memories, with int and with large counts. It serves
// them where SLUICE=all asks for that; the MPI serves all others.
#include "mpi/collective/collective_list.hpp"
#include "mpi/collective/own_reduction.hpp"
#include "mpi/collective/started_collective.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/start/interposition.hpp"
#include "system/environment.hpp"

namespace {

/// `pass()` is the MPI's own function.
template <class Pass>
int serve(sluice::CollectiveArguments const& arguments, MPI_Request* request, Pass&& pass) {
    if (arguments.communicator == MPI_COMM_NULL || !request) return pass();
    if (!sluice::calls_arrive()) return pass();
    sluice::PreparedCollective prepared;
    int const error = sluice::prepare(arguments, prepared, sluice::Starts::now);
    if (error != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        return error;
    }
    if (!prepared.context) return pass();
    sluice::reap(false);
    sluice::NewRequest made;
    *request = made.stand_for(std::make_unique<sluice::StartedCollective>(std::move(prepared)));
    return MPI_SUCCESS;
}

template <class Pass>
int guarded_serve(sluice::CollectiveArguments const& arguments, MPI_Request* request, Pass&& pass) {
    return sluice::guarded(arguments.communicator, [&] { return serve(arguments, request, pass); });
}

}  // namespace

#define SLUICE_INTERPOSED(NAME, PARAMETERS, ARGUMENTS, WHAT)                                       \
    int NAME(SLUICE_UNWRAPPED PARAMETERS, MPI_Request* request) {                                  \
        auto const pass = [&] { return SLUICE_PMPI(NAME)(SLUICE_UNWRAPPED ARGUMENTS, request); };  \
        return sluice::settings().collectives ? guarded_serve(WHAT, request, pass) : pass();       \
    }
#define SLUICE_WITH_INT(NAME, PARAMETERS, ARGUMENTS, WHAT)                                         \
    SLUICE_INTERPOSED(MPI_I##NAME, PARAMETERS, ARGUMENTS, WHAT)
#define SLUICE_WITH_LARGE(NAME, PARAMETERS, ARGUMENTS, WHAT)                                       \
    SLUICE_INTERPOSED(MPI_I##NAME##_c, PARAMETERS, ARGUMENTS, WHAT)

extern "C" {

SLUICE_BARRIER(SLUICE_WITH_INT)
SLUICE_EACH_COLLECTIVE(SLUICE_WITH_INT, int, int)
#ifdef SLUICE_HAVE_LARGE_COLLECTIVES
SLUICE_EACH_COLLECTIVE(SLUICE_WITH_LARGE, MPI_Count, MPI_Aint)
#endif

int MPI_Op_free(MPI_Op* op) { return sluice::free_op(op); }
int MPI_Type_free(MPI_Datatype* type) { return sluice::free_type(type); }

}  // extern "C"
