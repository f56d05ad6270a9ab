// Nonblocking operations as MPI_Requests that the MPI itself made: generalized requests. They are
// completed only inside intercepted calls, in the thread of the program, so no thread level is
// needed.
#pragma once
#include "api/access.hpp"

namespace sluice {

/// One request of ours. The MPI holds a pointer to it until free_fn.
struct Pending {
    Access access;
    MPI_Request request = MPI_REQUEST_NULL;
    bool told_mpi = false;  ///< PMPI_Grequest_complete was called.
};

/// A request for an access under way. Local.
MPI_Request make_request(Access access);

inline std::atomic<int> live_requests{0};

/// True when there is any request of ours, for the price of one load.
[[nodiscard]] inline bool any_requests() noexcept {
    return live_requests.load(std::memory_order_relaxed) > 0;
}

/// Ours, or null.
[[nodiscard]] Pending* find_request(MPI_Request request);

/// Tells the MPI if the operation is complete and it does not know yet; true when it is complete.
bool settle(Pending& pending);

/// After the MPI has completed and freed the request: accounts, raises the file's error handler.
/// Returns the error class.
int retire(Pending* pending);

/// The program freed the request: it ends by itself.
void abandon(Pending& pending);

/// Frees what was abandoned and is complete; `all`: waits for it.
void reap(bool all);
}  // namespace sluice
