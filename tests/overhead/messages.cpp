// What messages cost in a program that does no file I/O: times of short samples, their median for
// each pattern. It knows nothing of Sluice. Two ranks; rank 0 prints "NAME BYTES SECONDS" lines,
// seconds of one message, one call or one collective.
//
//   messages [SAMPLES]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int window = 64;  ///< Messages under way at once.

int rank = 0;
std::vector<char> outgoing(1 << 16), incoming(1 << 22);

int peer() { return 1 - rank; }

void send(int bytes) { MPI_Send(outgoing.data(), bytes, MPI_BYTE, peer(), 0, MPI_COMM_WORLD); }

void receive(int bytes) {
    MPI_Recv(incoming.data(), bytes, MPI_BYTE, peer(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

MPI_Request start_send(int bytes) {
    MPI_Request request;
    MPI_Isend(outgoing.data(), bytes, MPI_BYTE, peer(), 0, MPI_COMM_WORLD, &request);
    return request;
}

MPI_Request start_receive(int bytes, int place = 0) {
    MPI_Request request;
    MPI_Irecv(incoming.data() + std::ptrdiff_t{place} * bytes, bytes, MPI_BYTE, peer(), 0,
              MPI_COMM_WORLD, &request);
    return request;
}

/// There and back by two halves; who begins differs.
void ping_pong(int bytes, std::function<void(int)> const& out, std::function<void(int)> const& in) {
    if (rank == 0) {
        out(bytes);
        in(bytes);
    } else {
        in(bytes);
        out(bytes);
    }
}

void blocking(int bytes) { ping_pong(bytes, send, receive); }

void nonblocking(int bytes) {
    auto const wait = [](MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); };
    ping_pong(
        bytes, [&](int many) { wait(start_send(many)); },
        [&](int many) { wait(start_receive(many)); });
}

/// Both directions are completed by asking.
void tested(int bytes) {
    auto const ask = [](MPI_Request request) {
        for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    };
    ping_pong(
        bytes, [&](int many) { ask(start_send(many)); },
        [&](int many) { ask(start_receive(many)); });
}

/// One window in each direction.
void windows(int bytes) {
    MPI_Request requests[2 * window];
    for (int i = 0; i < window; ++i) requests[i] = start_receive(bytes, i);
    for (int i = 0; i < window; ++i) requests[window + i] = start_send(bytes);
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
}

/// Rank 0 asks for a message that is sent only when it has stopped asking.
void asked_in_vain(int calls) {
    if (rank == 1) {
        receive(0);
        send(0);
        return;
    }
    MPI_Request request = start_receive(0);
    for (int i = 0, done = 0; i < calls; ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    send(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void allreduce(int bytes) {
    MPI_Allreduce(outgoing.data(), incoming.data(), bytes / 8, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
}

void barrier(int) { MPI_Barrier(MPI_COMM_WORLD); }

struct Pattern {
    char const* name;
    int size;  ///< Bytes, or calls.
    void (*once)(int size);
    int repeats;  ///< In one sample, about 100 microseconds.
    int units;    ///< That one repeat counts for.
};

constexpr Pattern patterns[] = {
    {"blocking", 8, blocking, 100, 2},
    {"blocking", 1024, blocking, 100, 2},
    {"blocking", 65536, blocking, 10, 2},
    {"nonblocking", 8, nonblocking, 100, 2},
    {"nonblocking", 1024, nonblocking, 100, 2},
    {"nonblocking", 65536, nonblocking, 10, 2},
    {"tested", 8, tested, 100, 2},
    {"window", 8, windows, 5, window},
    {"window", 1024, windows, 5, window},
    {"asked_in_vain", 1000, asked_in_vain, 1, 1000},
    {"allreduce", 8, allreduce, 100, 1},
    {"barrier", 0, barrier, 100, 1},
};

double median_seconds(Pattern const& pattern, int samples) {
    std::vector<double> seconds;
    for (int sample = -samples / 10; sample < samples; ++sample) {  // A tenth to warm up.
        double const began = MPI_Wtime();
        for (int i = 0; i < pattern.repeats; ++i) pattern.once(pattern.size);
        double const each = (MPI_Wtime() - began) / (pattern.repeats * pattern.units);
        if (sample >= 0) seconds.push_back(each);
    }
    auto const middle = seconds.begin() + samples / 2;
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int const samples = argc > 1 ? std::atoi(argv[1]) : 500;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || samples < 10) MPI_Abort(MPI_COMM_WORLD, 2);
    int level = 0, length = 0;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Query_thread(&level);
    MPI_Get_library_version(library, &length);
    if (rank == 0)
        std::printf("multiple %d\nlibrary %.60s\n", level == MPI_THREAD_MULTIPLE, library);
    for (auto const& pattern : patterns) {
        double const seconds = median_seconds(pattern, samples);
        if (rank == 0) std::printf("%s %d %.4g\n", pattern.name, pattern.size, seconds);
    }
    MPI_Finalize();
}
