// Waiting asleep, and the clock. See timing.hpp.
#include "bench/measure/timing.hpp"

#include "bench/measure/end_job.hpp"

#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace sluice::bench {
namespace {

timespec time_of(double seconds) {
    auto const whole = std::floor(seconds);
    return {time_t(whole), long((seconds - whole) * 1e9)};
}

/// Whether all ranks have one clock.
bool one_node() { return node_count() == 1; }

void wait_asleep(MPI_Request request) {
    constexpr double between_looks = 30e-6;
    auto const pause = time_of(between_looks);
    for (int done = 0;;) {
        check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return;
        nanosleep(&pause, nullptr);
    }
}

template <typename Value> Value reduced(Value value, MPI_Datatype type, MPI_Op operation) {
    Value result{};
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Iallreduce(&value, &result, 1, type, operation, MPI_COMM_WORLD, &request),
          "MPI_Iallreduce");
    wait_asleep(request);
    return result;
}

}  // namespace

void check(int code, char const* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    end_job(std::string("sluice: ") + what + ": " + text);
    std::abort();
}

std::vector<int> const& nodes_of_ranks() {
    static std::vector<int> const nodes = [] {
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        int first = 0, ranks = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &first);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_Bcast(&first, 1, MPI_INT, 0, node);
        MPI_Comm_free(&node);
        std::vector<int> all(std::size_t(ranks), 0);
        MPI_Allgather(&first, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
        return all;
    }();
    return nodes;
}

int node_count() {
    auto const& nodes = nodes_of_ranks();
    int count = 0;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank)
        count += nodes[rank] == int(rank) ? 1 : 0;
    return count;
}

double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

void wait_for_all() {
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    wait_asleep(request);
}

double max_over_ranks(double value) { return reduced(value, MPI_DOUBLE, MPI_MAX); }

std::uint64_t sum_over_ranks(std::uint64_t value) { return reduced(value, MPI_UINT64_T, MPI_SUM); }
double total_over_ranks(double value) { return reduced(value, MPI_DOUBLE, MPI_SUM); }

double span_over_ranks(double begin, double end) {
    if (!one_node()) return max_over_ranks(end - begin);
    return max_over_ranks(end) + max_over_ranks(-begin);
}

void start_together() {
    if (!one_node()) return wait_for_all();
    // A little after the last rank came: late enough for each to have heard of it, though it
    // sleeps.
    constexpr double to_hear = 500e-6;
    auto const instant = time_of(max_over_ranks(now()) + to_hear);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, nullptr);
}

double time_together(std::function<void()> const& action) {
    start_together();
    double const begin = now();
    action();
    return span_over_ranks(begin, now());
}

}  // namespace sluice::bench
