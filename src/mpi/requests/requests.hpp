// The request of a nonblocking operation is a generalized request, which the MPI itself made. It is
// completed inside intercepted calls only, in the program's thread, so no thread level is needed.
// Where the program waits for the library's requests alone, the MPI is not told at all, and the
// request serves another operation later.
#pragma once
#include "mpi/requests/started.hpp"

#include <atomic>
#include <memory>
#include <mpi.h>
#include <vector>

namespace sluice {

/// One request of ours. The MPI has a pointer to it until free_fn.
struct Pending {
    std::unique_ptr<Started> what;  ///< Null: it stands for nothing now.
    MPI_Request request = MPI_REQUEST_NULL;
    bool told_mpi = false;  ///< PMPI_Grequest_complete was called.
};

/// A request that is made before its operation begins, so that what has begun can be handed over
/// for sure. One that comes to stand for nothing serves another operation.
class NewRequest {
public:
    NewRequest();
    ~NewRequest();
    NewRequest(NewRequest const&) = delete;
    NewRequest& operator=(NewRequest const&) = delete;

    /// Once. The program gets the handle.
    [[nodiscard]] MPI_Request stand_for(std::unique_ptr<Started> what) noexcept;

private:
    Pending* pending_;
};

inline std::atomic<int> live_requests{0};

/// Fills a status as a completed operation does.
void set_status(MPI_Status* status, Bytes bytes);

/// True when there is any request of ours, for the price of one load.
[[nodiscard]] inline bool any_requests() noexcept {
    return live_requests.load(std::memory_order_relaxed) > 0;
}

/// Ours, or null. It is gone when the MPI frees it: for that, hold it.
[[nodiscard]] Pending* find_request(MPI_Request request);

/// One of an array, there until it is let go, also when the MPI frees it.
struct Held {
    int index;
    std::shared_ptr<Pending> pending;
};
/// Those of ours, by index.
[[nodiscard]] std::vector<Held> hold_requests(int count, MPI_Request const* all);

/// Tells the MPI if the operation is complete and it does not know yet; true when it is complete.
bool settle(Pending& pending);

/// In place of the MPI, which was not told: one that is complete is gone for the program.
void conclude(Pending& pending, MPI_Request& request, MPI_Status* status);

/// After the MPI, or conclude(), has completed the request: raises the error handler. Returns the
/// error class.
int retire(Pending& pending);

/// The program freed the request, which is held: it ends by itself.
void abandon(Pending& pending);

/// What no request stands for ends by itself, too.
void abandon(std::unique_ptr<Started> what);

/// Frees what was abandoned and is complete; `all`: waits for it.
void reap(bool all);

/// Before MPI goes away: frees what is spare.
void free_spares();

}  // namespace sluice
