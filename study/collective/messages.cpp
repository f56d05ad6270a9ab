// The message overhead benchmark of "Nonblocking collectives over InfiniBand" (section IV-A): how
// long the calls of a ping-pong keep a program, without what it waits for.
#include <vector>

#include "bench/measure/timing.hpp"
#include "study/collective/measuring.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

/// Seconds of one call of each.
struct Calls {
    double isend = 0, irecv = 0, test = 0;
};

/// Tests until it is done, and counts.
void finish(MPI_Request& request, int& tests) {
    for (int done = 0; done == 0; ++tests)
        check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

/// Between ranks 0 and 1.
Calls ping_pong(int rank, std::vector<char>& buffer, int times) {
    Calls calls;
    int tests = 0;
    double testing = 0;
    auto const timed = [](double& into, auto const& action) {
        double const begin = now();
        action();
        into += now() - begin;
    };
    int const other = 1 - rank, bytes = int(buffer.size());
    MPI_Request request = MPI_REQUEST_NULL;
    auto const send = [&] {
        timed(calls.isend, [&] {
            check(PMPI_Isend(buffer.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request),
                  "MPI_Isend");
        });
        timed(testing, [&] { finish(request, tests); });
    };
    auto const receive = [&] {
        timed(calls.irecv, [&] {
            check(PMPI_Irecv(buffer.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request),
                  "MPI_Irecv");
        });
        timed(testing, [&] { finish(request, tests); });
    };
    for (int i = 0; i < times; ++i) {
        if (rank == 0) send();
        receive();
        if (rank == 1) send();
    }
    calls.isend /= times, calls.irecv /= times;
    calls.test = testing / tests;
    return calls;
}

}  // namespace

void measure_messages(Job& job) {
    if (job.run.ranks < 2) return job.report().note("\nmessages: left out, there is one rank");
    constexpr int times = 200;
    auto const sizes =
        job.options.bytes.empty()
            ? std::vector<std::uint64_t>{1, 64, 256, 1024, 4096, 16384, 65536, 262144}
            : job.options.bytes;
    job.report().table("Overhead of the MPI's messages: one call in a ping-pong",
                       {"bytes       ", "  isend: median (min .. max)",
                        "  irecv: median (min .. max)", "   test: median (min .. max)"});
    Budget budget(job, sizes.size());
    for (auto const bytes : sizes) {
        if (!budget.has_time()) continue;
        std::vector<char> buffer(bytes);
        std::vector<double> isend, irecv, test;
        budget.part("messages, " + bench::text_of_bytes(bytes), 1, [&](std::size_t, int turn) {
            Calls calls;
            bench::start_together();
            if (job.run.rank < 2) calls = ping_pong(job.run.rank, buffer, times);
            for (auto [value, into] :
                 {std::pair{calls.isend, &isend}, std::pair{calls.irecv, &irecv},
                  std::pair{calls.test, &test}}) {
                double const most = bench::max_over_ranks(value);
                if (turn >= 0) into->push_back(most);
            }
        });
        auto const i = bench::summary_of(isend), r = bench::summary_of(irecv),
                   t = bench::summary_of(test);
        job.report().row({bench::text_of_bytes(bytes), text_of_summary(i), text_of_summary(r),
                          text_of_summary(t)});
        bench::Json line;
        line.add_integer("bytes", bytes).add("unit", "s");
        line.add("isend", i).add("irecv", r).add("test", t);
        job.report().record("message overhead", line);
    }
}

}  // namespace sluice::collectives
