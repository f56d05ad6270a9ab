// What node_messages.cpp measures, by an MPI: the same patterns, sizes, samples and output.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

constexpr int bytes_max = 4 << 20;
int rank = 0;
std::vector<char> outgoing(bytes_max, 1), incoming(bytes_max, 2);

void send(int bytes) { MPI_Send(outgoing.data(), bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD); }

void receive(int bytes) {
    MPI_Recv(incoming.data(), bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void there_and_back(int bytes) {
    if (rank == 0) send(bytes);
    receive(bytes);
    if (rank == 1) send(bytes);
}

void both_ways(int bytes) {
    MPI_Sendrecv(outgoing.data(), bytes, MPI_BYTE, 1 - rank, 1, incoming.data(), bytes, MPI_BYTE,
                 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void measure(char const* name, void (*once)(int), double messages, int bytes) {
    int const samples = bytes <= 65536 ? 200 : 50;
    int const inside = bytes <= 4096 ? 50 : bytes <= 65536 ? 10 : 1;
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample) {
        both_ways(0);
        both_ways(0);
        double const begin = MPI_Wtime();
        for (int i = 0; i < inside; ++i) once(bytes);
        times.push_back((MPI_Wtime() - begin) / inside / messages);
    }
    std::sort(times.begin(), times.end());
    if (rank != 0) return;
    std::printf("%s %d %.3e %.3e\n", name, bytes, times[times.size() / 2], times[0]);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bytes :
         {0, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}) {
        measure("there_and_back", there_and_back, 2, bytes);
        measure("both_ways", both_ways, 1, bytes);
    }
    MPI_Finalize();
    return 0;
}
