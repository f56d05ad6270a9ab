// Who moves the data of an application kernel: the few collectives that the kernels are made of, by
// the MPI's blocking calls, its nonblocking ones, Sluice in their place, Sluice's own functions, or
// nobody, which leaves the computation alone.
#pragma once
#include <mpi.h>

#include <memory>
#include <string>
#include <utility>

#include "sluice/sluice.h"

namespace sluice::collectives {

/// One operation under way, of whatever service; complete where both are null.
struct Request {
    MPI_Request mpi = MPI_REQUEST_NULL;
    sluice_request own = SLUICE_REQUEST_NULL;
};

/// Calls are collective, but for test() and wait(). Memory is left alone until these have returned;
/// counts and places too.
class Service {
public:
    Service() = default;
    Service(Service const&) = delete;
    Service& operator=(Service const&) = delete;
    virtual ~Service() = default;

    [[nodiscard]] virtual Request alltoall(double const* send, double* receive, int count,
                                           MPI_Comm communicator) = 0;
    /// One number of each rank, to rank 0.
    [[nodiscard]] virtual Request gather_sizes(int const* own, int* all, MPI_Comm communicator) = 0;
    [[nodiscard]] virtual Request gather(unsigned char const* send, int bytes,
                                         unsigned char* receive, int const* counts,
                                         int const* places, MPI_Comm communicator) = 0;
    virtual bool test(Request& request) = 0;
    virtual void wait(Request& request) = 0;

    /// Both gathers as one operation; `sizes` are of all ranks, once it is complete.
    [[nodiscard]] virtual bool gathers_results() const { return false; }
    [[nodiscard]] virtual Request gather_results(unsigned char const*, int, unsigned char*,
                                                 MPI_Count /*capacity*/, MPI_Count* /*sizes*/,
                                                 MPI_Comm) {
        return {};
    }
};

/// Another service, with a clock.
class Timed : public Service {
public:
    explicit Timed(std::unique_ptr<Service> service) : service_(std::move(service)) {}

    Request alltoall(double const* send, double* receive, int count,
                     MPI_Comm communicator) override;
    Request gather_sizes(int const* own, int* all, MPI_Comm communicator) override;
    Request gather(unsigned char const* send, int bytes, unsigned char* receive, int const* counts,
                   int const* places, MPI_Comm communicator) override;
    bool test(Request& request) override;
    void wait(Request& request) override;
    [[nodiscard]] bool gathers_results() const override { return service_->gathers_results(); }
    Request gather_results(unsigned char const* send, int bytes, unsigned char* receive,
                           MPI_Count capacity, MPI_Count* sizes, MPI_Comm communicator) override;

    /// Inside of its functions since it was asked last, on this rank.
    double take_seconds() { return std::exchange(seconds_, 0); }

private:
    template <typename Action> auto timed(Action const& action);
    std::unique_ptr<Service> service_;
    double seconds_ = 0;
};

/// By the names of kinds.hpp, and "nobody"; null where it is not there.
std::unique_ptr<Service> service_named(std::string const& name);
inline constexpr char const* nobody = "nobody";

}  // namespace sluice::collectives
