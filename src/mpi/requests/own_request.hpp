// The type to which `sluice_request` of sluice.h points.
#pragma once
#include <mpi.h>

/// An access to a file or a collective between memories, persistent or started already. The
/// functions return error classes, after the handler of the file or the communicator.
struct sluice_request_s {
    sluice_request_s() = default;
    virtual ~sluice_request_s() = default;
    sluice_request_s(sluice_request_s const&) = delete;
    sluice_request_s& operator=(sluice_request_s const&) = delete;

    virtual int start() = 0;
    /// Of one that is inactive: returns at once.
    virtual int wait(MPI_Status* status) = 0;
    virtual int test(int* complete, MPI_Status* status) = 0;
    /// Refuses while it is active.
    [[nodiscard]] virtual int check_free() const = 0;
    /// Cannot be started again: its completion frees it.
    [[nodiscard]] virtual bool ends_when_complete() const noexcept { return false; }
};

namespace sluice {

using OwnRequest = sluice_request_s;

struct PreparedCollective;
/// Of a collective that this starts; of one that has ended already, with this code.
[[nodiscard]] OwnRequest* start_own(PreparedCollective&& prepared);
[[nodiscard]] OwnRequest* ended_own(int code);

}  // namespace sluice
