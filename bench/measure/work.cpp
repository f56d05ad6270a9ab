// A chain of dependent multiplications, and how fast this machine runs it with every rank busy.
#include "bench/measure/work.hpp"

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/measure/report.hpp"

namespace sluice::bench {

void compute(std::uint64_t iterations) {
    static volatile std::uint64_t sink = 1;
    std::uint64_t x = sink;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        x ^= x >> 29;  // without it a clever compiler could skip ahead
    }
    sink = x;
}

namespace {

class Halos {
public:
    explicit Halos(std::uint64_t bytes)
        : sent_(2 * bytes),
          received_(2 * bytes),
          bytes_(int(bytes)) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        before_ = (rank + ranks - 1) % ranks, after_ = (rank + 1) % ranks;
    }

    void exchange() {
        MPI_Request requests[4];
        receive(before_, 0, requests[0]), receive(after_, 1, requests[1]);
        send(after_, 0, requests[2]), send(before_, 1, requests[3]);
        check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

private:
    void receive(int from, int tag, MPI_Request& request) {
        check(MPI_Irecv(received_.data() + tag * bytes_, bytes_, MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Irecv");
    }
    void send(int to, int tag, MPI_Request& request) {
        check(MPI_Isend(sent_.data() + tag * bytes_, bytes_, MPI_BYTE, to, tag, MPI_COMM_WORLD,
                        &request),
              "MPI_Isend");
    }

    std::vector<char> sent_, received_;
    int bytes_, before_ = 0, after_ = 0;
};

double time_of(Work const& work, std::uint64_t iterations) {
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(time_together([&] { work(iterations); }));
    return summary_of(seconds).median;
}

}  // namespace

Work with_halos(std::uint64_t bytes) {
    return [halos = std::make_shared<Halos>(bytes)](std::uint64_t iterations) {
        constexpr std::uint64_t between = std::uint64_t{1} << 17;
        for (; iterations > between; iterations -= between) {
            compute(between);
            halos->exchange();
        }
        compute(iterations);
    };
}

std::uint64_t iterations_lasting(double seconds, Work const& work) {
    constexpr double long_enough = 0.1;  // many time slices of the scheduler
    std::uint64_t sample = std::uint64_t{1} << 20;
    while (time_together([&] { work(sample); }) < long_enough) sample *= 2;
    double const proportional = double(sample) / time_of(work, sample) * seconds;
    double iterations = proportional;
    // A bound on the correction: below a time slice the fit would follow mere chance.
    for (int turn = 0; turn < 2; ++turn)
        iterations = std::clamp(iterations * seconds / time_of(work, std::uint64_t(iterations) + 1),
                                proportional / 2, proportional * 2);
    return std::uint64_t(iterations) + 1;
}

}  // namespace sluice::bench
