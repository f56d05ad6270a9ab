// Collectives between memories for Fortran, and the frees that wait for them. With buffers only
// Open MPI's Fortran library does not call the C functions by their names. See fortran.hpp.
#include "mpi/collective/collective_list.hpp"
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

extern "C" {

SLUICE_FORTRAN(ibarrier, (Integer c, Integer request, Integer ierror),
               MPI_Ibarrier(comm(c), Out<Request>(request)))
SLUICE_FORTRAN(op_free, (Integer op, Integer ierror), MPI_Op_free(Updated<Op>(op)))
SLUICE_FORTRAN(type_free, (Integer t, Integer ierror), MPI_Type_free(Updated<Datatype>(t)))

}  // extern "C"
#endif

#ifdef OPEN_MPI
#include <mutex>
#include <set>

namespace {

/// What C gets for an address that Fortran passes, by the type that C wants. In Open MPI handles
/// are of different types.
template <class Wanted> auto argument(void* address) {
    auto* const integer = static_cast<Integer>(address);
    if constexpr (std::is_same_v<Wanted, int>) {
        return *integer;
    } else if constexpr (std::is_same_v<Wanted, void*> || std::is_same_v<Wanted, void const*>) {
        return memory(address);
    } else if constexpr (std::is_same_v<Wanted, MPI_Datatype>) {
        return type(integer);
    } else if constexpr (std::is_same_v<Wanted, MPI_Op>) {
        return Op::to_c(integer);
    } else if constexpr (std::is_same_v<Wanted, MPI_Comm>) {
        return comm(integer);
    } else if constexpr (std::is_same_v<Wanted, MPI_Request*>) {
        return Out<Request>(integer);
    } else {  // Counts and displacements.
        static_assert(std::is_same_v<Wanted, int const*> ||
                      std::is_same_v<Wanted, MPI_Aint const*>);
        return static_cast<Wanted>(address);
    }
}

template <class... Wanted, class... Given>
int call(int (*function)(Wanted...), Given*... addresses) {
    return function(argument<Wanted>(addresses)...);
}

/// Of a call with a datatype each.
struct HowMany {
    int sent = 0, received = 0;
};

HowMany of_all(MPI_Comm communicator) {
    int other = 0, ranks = 0;
    PMPI_Comm_test_inter(communicator, &other);
    (other ? PMPI_Comm_remote_size : PMPI_Comm_size)(communicator, &ranks);
    return {ranks, ranks};
}

HowMany of_neighbours(MPI_Comm communicator) {
    int kind = MPI_UNDEFINED, count = 0;
    PMPI_Topo_test(communicator, &kind);
    if (kind == MPI_DIST_GRAPH) {
        HowMany all;
        PMPI_Dist_graph_neighbors_count(communicator, &all.received, &all.sent, &count);
        return all;
    }
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(communicator, &count);
        count *= 2;
    } else if (kind == MPI_GRAPH) {
        int self = 0;
        PMPI_Comm_rank(communicator, &self);
        PMPI_Graph_neighbors_count(communicator, self, &count);
    }
    return {count, count};
}

/// The MPI may look at the list until a request is complete, and nobody is told when that is. So
/// each list is kept, once.
MPI_Datatype const* types(void* buffer, void* all, int count) {
    if (memory(buffer) == MPI_IN_PLACE) return nullptr;
    static std::mutex mutex;
    static auto* const kept = new std::set<std::vector<MPI_Datatype>>;
    std::vector<MPI_Datatype> converted;
    for (int i = 0; i < count; ++i) converted.push_back(type(static_cast<Integer>(all) + i));
    std::lock_guard const lock(mutex);
    return kept->insert(std::move(converted)).first->data();
}

/// Each block has a datatype. Only those of neighbours have displacements of another type.
template <class Place>
int call(int (*function)(void const*, int const*, Place const*, MPI_Datatype const*, void*,
                         int const*, Place const*, MPI_Datatype const*, MPI_Comm, MPI_Request*),
         void* s, void* sn, void* sp, void* st, void* r, void* rn, void* rp, void* rt, void* c,
         void* request) {
    MPI_Comm const communicator = argument<MPI_Comm>(c);
    bool const all = std::is_same_v<Place, int>;
    HowMany const types_of = all ? of_all(communicator) : of_neighbours(communicator);
    return function(memory(s), argument<int const*>(sn), argument<Place const*>(sp),
                    types(s, st, types_of.sent), memory(r), argument<int const*>(rn),
                    argument<Place const*>(rp), types(r, rt, types_of.received), communicator,
                    argument<MPI_Request*>(request));
}

}  // namespace

// Names as parameters: void* a, void* b, ... Each scan of the result adds one; there are up to 9.
#define SLUICE_ADDRESSES(...) SLUICE_9_SCANS(SLUICE_ADDRESS(__VA_ARGS__))
#define SLUICE_ADDRESS(FIRST, ...)                                                                 \
    void* FIRST __VA_OPT__(, SLUICE_PMPI_ADDRESS SLUICE_NOTHING()()(__VA_ARGS__))
#define SLUICE_PMPI_ADDRESS() SLUICE_ADDRESS
#define SLUICE_NOTHING()
#define SLUICE_9_SCANS(...) SLUICE_3_SCANS(SLUICE_3_SCANS(SLUICE_3_SCANS(__VA_ARGS__)))
#define SLUICE_3_SCANS(...) SLUICE_SCAN(SLUICE_SCAN(SLUICE_SCAN(__VA_ARGS__)))
#define SLUICE_SCAN(...) __VA_ARGS__

#define SLUICE_NONBLOCKING(NAME, PARAMETERS, ARGUMENTS, WHAT)                                      \
    SLUICE_FORTRAN_BUFFER(i##NAME, (SLUICE_ADDRESSES ARGUMENTS, void* request, Integer ierror),    \
                          call(MPI_I##NAME, SLUICE_UNWRAPPED ARGUMENTS, request))

extern "C" {

SLUICE_EACH_COLLECTIVE(SLUICE_NONBLOCKING, int, int)

}  // extern "C"
#endif
