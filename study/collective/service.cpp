// The collectives of application kernels, by each service. See service.hpp.
#include "study/collective/service.hpp"

#include <dlfcn.h>

#include "bench/measure/timing.hpp"
#include "study/collective/kinds.hpp"

namespace sluice::collectives {
namespace {

using bench::check;

class Nobody : public Service {
public:
    Request alltoall(double const*, double*, int, MPI_Comm) override { return {}; }
    Request gather_sizes(int const*, int*, MPI_Comm) override { return {}; }
    Request gather(unsigned char const*, int, unsigned char*, int const*, int const*,
                   MPI_Comm) override {
        return {};
    }
    bool test(Request&) override { return true; }
    void wait(Request&) override {}
};

class Blocking : public Nobody {
public:
    Request alltoall(double const* send, double* receive, int count,
                     MPI_Comm communicator) override {
        check(PMPI_Alltoall(send, count, MPI_DOUBLE, receive, count, MPI_DOUBLE, communicator),
              "MPI_Alltoall");
        return {};
    }
    Request gather_sizes(int const* own, int* all, MPI_Comm communicator) override {
        check(PMPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, 0, communicator), "MPI_Gather");
        return {};
    }
    Request gather(unsigned char const* send, int bytes, unsigned char* receive, int const* counts,
                   int const* places, MPI_Comm communicator) override {
        check(
            PMPI_Gatherv(send, bytes, MPI_BYTE, receive, counts, places, MPI_BYTE, 0, communicator),
            "MPI_Gatherv");
        return {};
    }
};

/// The nonblocking functions of MPI: its own, or what stands in their place.
struct Functions {
    decltype(&MPI_Ialltoall) alltoall;
    decltype(&MPI_Igather) gather;
    decltype(&MPI_Igatherv) gatherv;
    decltype(&MPI_Test) test;
    decltype(&MPI_Wait) wait;
};
constexpr Functions mpi_functions{PMPI_Ialltoall, PMPI_Igather, PMPI_Igatherv, PMPI_Test,
                                  PMPI_Wait};
constexpr Functions interposed_functions{MPI_Ialltoall, MPI_Igather, MPI_Igatherv, MPI_Test,
                                         MPI_Wait};

class Mpi : public Service {
public:
    explicit Mpi(Functions const& functions) : f_(functions) {}

    Request alltoall(double const* send, double* receive, int count,
                     MPI_Comm communicator) override {
        Request r;
        check(
            f_.alltoall(send, count, MPI_DOUBLE, receive, count, MPI_DOUBLE, communicator, &r.mpi),
            "MPI_Ialltoall");
        return r;
    }
    Request gather_sizes(int const* own, int* all, MPI_Comm communicator) override {
        Request r;
        check(f_.gather(own, 1, MPI_INT, all, 1, MPI_INT, 0, communicator, &r.mpi), "MPI_Igather");
        return r;
    }
    Request gather(unsigned char const* send, int bytes, unsigned char* receive, int const* counts,
                   int const* places, MPI_Comm communicator) override {
        Request r;
        check(f_.gatherv(send, bytes, MPI_BYTE, receive, counts, places, MPI_BYTE, 0, communicator,
                         &r.mpi),
              "MPI_Igatherv");
        return r;
    }
    bool test(Request& request) override {
        int done = 0;
        check(f_.test(&request.mpi, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    }
    void wait(Request& request) override {
        check(f_.wait(&request.mpi, MPI_STATUS_IGNORE), "MPI_Wait");
    }

private:
    Functions const& f_;
};

template <typename Function> Function loaded(char const* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

class Own : public Service {
public:
    [[nodiscard]] bool is_loaded() const {
        return alltoall_ && gather_ && gatherv_ && test_ && wait_;
    }

    Request alltoall(double const* send, double* receive, int count,
                     MPI_Comm communicator) override {
        Request r;
        check(alltoall_(send, count, MPI_DOUBLE, receive, count, MPI_DOUBLE, communicator, &r.own),
              "sluice_ialltoall");
        return r;
    }
    Request gather_sizes(int const* own, int* all, MPI_Comm communicator) override {
        Request r;
        check(gather_(own, 1, MPI_INT, all, 1, MPI_INT, 0, communicator, &r.own), "sluice_igather");
        return r;
    }
    Request gather(unsigned char const* send, int bytes, unsigned char* receive, int const* counts,
                   int const* places, MPI_Comm communicator) override {
        Request r;
        check(gatherv_(send, bytes, MPI_BYTE, receive, counts, places, MPI_BYTE, 0, communicator,
                       &r.own),
              "sluice_igatherv");
        return r;
    }
    /// One that is complete is gone.
    bool test(Request& request) override {
        if (request.own == SLUICE_REQUEST_NULL) return true;
        int done = 0;
        check(test_(request.own, &done, MPI_STATUS_IGNORE), "sluice_test");
        if (done != 0) request.own = SLUICE_REQUEST_NULL;
        return done != 0;
    }
    void wait(Request& request) override {
        if (request.own == SLUICE_REQUEST_NULL) return;
        check(wait_(request.own, MPI_STATUS_IGNORE), "sluice_wait");
        request.own = SLUICE_REQUEST_NULL;
    }
    [[nodiscard]] bool gathers_results() const override { return results_ != nullptr; }
    Request gather_results(unsigned char const* send, int bytes, unsigned char* receive,
                           MPI_Count capacity, MPI_Count* sizes, MPI_Comm communicator) override {
        Request r;
        check(results_(send, bytes, receive, capacity, sizes, 0, communicator, &r.own),
              "sluice_igather_results");
        return r;
    }

private:
    decltype(&sluice_ialltoall) alltoall_ = loaded<decltype(alltoall_)>("sluice_ialltoall");
    decltype(&sluice_igather) gather_ = loaded<decltype(gather_)>("sluice_igather");
    decltype(&sluice_igatherv) gatherv_ = loaded<decltype(gatherv_)>("sluice_igatherv");
    decltype(&sluice_test) test_ = loaded<decltype(test_)>("sluice_test");
    decltype(&sluice_wait) wait_ = loaded<decltype(wait_)>("sluice_wait");
    decltype(&sluice_igather_results) results_ =
        loaded<decltype(results_)>("sluice_igather_results");
};

}  // namespace

std::unique_ptr<Service> service_named(std::string const& name) {
    if (name == nobody) return std::make_unique<Nobody>();
    if (name == blocking_way) return std::make_unique<Blocking>();
    if (name == mpi_way) return std::make_unique<Mpi>(mpi_functions);
    if (name == interposed_way && interposes()) return std::make_unique<Mpi>(interposed_functions);
    if (name != sluice_way) return nullptr;
    auto own = std::make_unique<Own>();
    if (!own->is_loaded()) return nullptr;
    return own;
}

template <typename Action> auto Timed::timed(Action const& action) {
    double const begin = bench::now();
    auto result = action();
    seconds_ += bench::now() - begin;
    return result;
}

Request Timed::alltoall(double const* send, double* receive, int count, MPI_Comm communicator) {
    return timed([&] { return service_->alltoall(send, receive, count, communicator); });
}

Request Timed::gather_sizes(int const* own, int* all, MPI_Comm communicator) {
    return timed([&] { return service_->gather_sizes(own, all, communicator); });
}

Request Timed::gather(unsigned char const* send, int bytes, unsigned char* receive,
                      int const* counts, int const* places, MPI_Comm communicator) {
    return timed(
        [&] { return service_->gather(send, bytes, receive, counts, places, communicator); });
}

Request Timed::gather_results(unsigned char const* send, int bytes, unsigned char* receive,
                              MPI_Count capacity, MPI_Count* sizes, MPI_Comm communicator) {
    return timed([&] {
        return service_->gather_results(send, bytes, receive, capacity, sizes, communicator);
    });
}

bool Timed::test(Request& request) {
    return timed([&] { return service_->test(request); });
}

void Timed::wait(Request& request) {
    timed([&] {
        service_->wait(request);
        return 0;
    });
}

}  // namespace sluice::collectives
