// Messages of the MPI: what one costs whatever its length, and what each byte costs. See
// calibrate.hpp.
#include "bench/measure/regression.hpp"
#include "tools/calibrate/calibrate.hpp"

#include <algorithm>
#include <functional>
#include <mpi.h>

namespace sluice::calibrate {
namespace {

constexpr int tag_ball = 1, tag_never_sent = 2;
constexpr int repeats_least = 5, repeats_most = 4000;
constexpr int sizes[] = {8, 256, 2048, 16384, 65536, 262144, 1048576};

struct Pair {
    int from = 0, to = 0;
};

void send(std::vector<char> const& memory, int bytes, int to) {
    bench::check(MPI_Send(memory.data(), bytes, MPI_CHAR, to, tag_ball, MPI_COMM_WORLD),
                 "MPI_Send");
}

void receive(std::vector<char>& memory, int bytes, int from) {
    bench::check(
        MPI_Recv(memory.data(), bytes, MPI_CHAR, from, tag_ball, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Recv");
}

/// Seconds of one message there, by half the way there and back; undisturbed, of all repeats.
double one_way(Job const& job, Pair pair, int bytes, int repeats) {
    std::vector<char> memory(static_cast<std::size_t>(bytes));
    std::vector<double> seconds;
    bench::wait_for_all();
    for (int i = 0; i < repeats; ++i) {
        double const begin = bench::now();
        if (job.rank == pair.from) {
            send(memory, bytes, pair.to);
            receive(memory, bytes, pair.to);
        } else if (job.rank == pair.to) {
            receive(memory, bytes, pair.from);
            send(memory, bytes, pair.from);
        } else {
            break;
        }
        seconds.push_back((bench::now() - begin) / 2);
    }
    return bench::max_over_ranks(job.rank == pair.from ? low_of(std::move(seconds)) : 0);
}

/// For as long as `seconds`, as far as a first trial can tell.
double one_way_for(Job const& job, Pair pair, int bytes, double seconds) {
    double const guess = one_way(job, pair, bytes, repeats_least);
    int const repeats = static_cast<int>(
        std::clamp(seconds / (2 * guess), double{repeats_least}, double{repeats_most}));
    return one_way(job, pair, bytes, repeats);
}

/// Sizes in turn, several times.
StraightLine line_of(Job const& job, Pair pair, double seconds) {
    constexpr int turns = 3;
    std::vector<Sample> samples;
    for (int turn = 0; turn < turns; ++turn) {
        for (int const bytes : sizes) {
            double const share = seconds / turns / static_cast<double>(std::size(sizes));
            samples.push_back({static_cast<double>(bytes), one_way_for(job, pair, bytes, share)});
        }
    }
    return line_through(medians_of(samples));
}

/// Seconds for each byte that rank 0 receives while all of these send at once: what an aggregator
/// sees, whose link the others share.
double byte_of_all(Job const& job, std::vector<int> const& senders, double seconds) {
    constexpr int bytes = 1 << 18, in_a_row = 8;
    auto const memory_of_one = static_cast<std::size_t>(bytes);
    bool const sends = std::find(senders.begin(), senders.end(), job.rank) != senders.end();
    std::size_t const peers = job.rank == 0 ? senders.size() : sends ? 1 : 0;
    std::vector<char> memory(peers * in_a_row * memory_of_one);
    std::vector<double> each;
    double const begin = bench::now();
    for (bool goes_on = true; goes_on;) {
        std::vector<MPI_Request> requests;
        bench::wait_for_all();
        double const start = bench::now();
        for (std::size_t i = 0; i < peers * in_a_row; ++i) {
            char* const at = memory.data() + i * memory_of_one;
            MPI_Request& request = requests.emplace_back();
            if (job.rank == 0)
                MPI_Irecv(at, bytes, MPI_CHAR, senders[i / in_a_row], tag_ball, MPI_COMM_WORLD,
                          &request);
            else
                MPI_Isend(at, bytes, MPI_CHAR, 0, tag_ball, MPI_COMM_WORLD, &request);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        each.push_back((bench::now() - start) /
                       (static_cast<double>(senders.size()) * in_a_row * bytes));
        goes_on = of_rank_0(bench::now() - begin < seconds ? 1 : 0) > 0;
    }
    return of_rank_0(low_of(std::move(each)));
}

/// What a message takes longer for each receive that waits before its own.
double queue_of(Job const& job, Pair pair, double seconds) {
    constexpr int waiting = 256, bytes = 8, turns = 3;
    std::vector<double> longer;
    for (int turn = 0; turn < turns; ++turn) {
        double const share = seconds / turns / 2;
        double const alone = one_way_for(job, pair, bytes, share);
        std::vector<MPI_Request> requests;
        char nothing = 0;
        bool const is_one = job.rank == pair.from || job.rank == pair.to;
        int const peer = job.rank == pair.from ? pair.to : pair.from;
        for (int i = 0; is_one && i < waiting; ++i)
            MPI_Irecv(&nothing, 0, MPI_CHAR, peer, tag_never_sent + i, MPI_COMM_WORLD,
                      &requests.emplace_back());
        double const queued = one_way_for(job, pair, bytes, share);
        for (MPI_Request& request : requests) {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        longer.push_back((queued - alone) / waiting);
    }
    return std::max(0.0, median_of(std::move(longer)));
}

}  // namespace

void measure_messages(Job const& job, double seconds, MachineProfile& profile) {
    if (job.ranks == 1) return;
    auto const near = job.near(), far = job.far();
    job.progress->part("messages");
    constexpr int steps = 4;
    job.progress->expect(steps);
    double const share = seconds / (near.size() > 1 && !far.empty() ? steps : 2);
    if (near.size() > 1) {
        job.progress->step("messages within a node");
        auto const line = line_of(job, {near[0], near[1]}, share);
        profile.within = {line.start, line.each};
    }
    if (!far.empty()) {
        job.progress->step("messages between nodes");
        auto const line = line_of(job, {near[0], far[0]}, share);
        job.progress->step("messages of all to one");
        double const byte = byte_of_all(job, far, share / 2);
        profile.between = {line.start, byte > 0 ? byte : line.each};
    }
    job.progress->step("messages in a queue");
    profile.queue = queue_of(job, {0, far.empty() ? near[1] : far[0]}, share / 2);
    job.progress->wipe();
}

}  // namespace sluice::calibrate
