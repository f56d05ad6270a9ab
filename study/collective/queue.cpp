// What a long queue of requests costs a message: rank 0 posts receives for messages of the other
// ranks, or finds them unasked, and the time of a message is measured against their number. ROMIO's
// exchange posts a receive for each rank at once; "Improving All-to-Many Personalized Communication
// in Two-Phase I/O" (section IV-B) throttles because of this cost, and the simulation is told it
// (queue_seconds).
#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "bench/measure/timing.hpp"
#include "study/collective/measuring.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

constexpr int word_bytes = 8;  // Short enough to be sent before it is asked for.
constexpr std::array lengths{1, 16, 64, 256, 1024, 4096, 16384};
constexpr int from_length = 1024;  // Shorter queues are in the nearest cache.

/// Messages of the other ranks in turn; the tag is the number of the message.
class Queue {
public:
    Queue(Job const& job, int length)
        : rank_(job.run.rank),
          senders_(job.run.ranks - 1),
          order_(std::size_t(length)),
          words_(std::size_t(length) * word_bytes) {
        std::iota(order_.begin(), order_.end(), 0);
        // The same order in each run: what is measured is the queue.
        std::mt19937 draws(1);  // NOLINT(bugprone-random-generator-seed)
        std::shuffle(order_.begin(), order_.end(), draws);
    }

    /// Collective. Seconds of one of the messages whose receives were posted before they were sent.
    /// They are sent in another order than they are asked for.
    double posted() {
        std::vector<MPI_Request> requests;
        if (rank_ == 0) {
            for (std::size_t i = 0; i < order_.size(); ++i) requests.push_back(receive(int(i)));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = now();
        if (rank_ != 0) send_own();
        if (rank_ == 0) wait(requests);
        return seconds_since(begin);
    }

    /// Collective. The same of messages that all came before rank 0 asks for them, one by one and
    /// in another order.
    double unexpected() {
        if (rank_ != 0) send_own();
        MPI_Barrier(MPI_COMM_WORLD);
        settle();
        double const begin = now();
        if (rank_ == 0) {
            for (std::size_t i = 0; i < order_.size(); ++i) {
                std::vector one{receive(int(i))};
                wait(one);
            }
        }
        return seconds_since(begin);
    }

private:
    [[nodiscard]] int sender_of(int number) const { return 1 + number % senders_; }

    MPI_Request receive(int number) {
        MPI_Request request = MPI_REQUEST_NULL;
        check(PMPI_Irecv(words_.data() + std::size_t(number) * word_bytes, word_bytes, MPI_BYTE,
                         sender_of(number), number, MPI_COMM_WORLD, &request),
              "MPI_Irecv");
        return request;
    }

    static void wait(std::vector<MPI_Request>& requests) {
        check(PMPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    }

    void send_own() {
        std::vector<MPI_Request> requests;
        for (int const number : order_) {
            if (sender_of(number) != rank_) continue;
            requests.emplace_back();
            check(PMPI_Isend(words_.data() + std::size_t(number) * word_bytes, word_bytes, MPI_BYTE,
                             0, number, MPI_COMM_WORLD, &requests.back()),
                  "MPI_Isend");
        }
        wait(requests);
    }

    /// Lets the MPI take in what has come, as it does in any call: nothing matches this one.
    static void settle() {
        for (int call = 0, found = 0; call < 1000; ++call)
            check(PMPI_Iprobe(MPI_ANY_SOURCE, 32767, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE),
                  "MPI_Iprobe");
    }

    [[nodiscard]] double seconds_since(double begin) const {
        double seconds = (now() - begin) / double(order_.size());
        MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return seconds;
    }

    int rank_, senders_;
    std::vector<int> order_;
    std::vector<char> words_;
};

void measure_queue(Job& job, char const* name, double (Queue::*measure)()) {
    job.report().table(bench::text_of("queue of %s receives, %d senders", name, job.run.ranks - 1),
                       {"requests", "a message: median (min .. max)"});
    std::vector<double> each;  // What a request adds to a message, between two lengths.
    double shorter = 0;
    for (int const length : lengths) {
        std::vector<double> samples;
        for (int turn = -1; turn < job.options.repeat; ++turn) {
            Queue queue(job, length);
            double const seconds = (queue.*measure)();
            if (turn >= 0) samples.push_back(seconds);
        }
        auto const summary = bench::summary_of(samples);
        // Each is four times as long as the one before; on average half of the requests are left.
        int const added = length - length / 4;
        if (length > from_length)
            each.push_back((summary.median - shorter) / (0.5 * double(added)));
        shorter = summary.median;
        job.report().row({std::to_string(length), bench::text_of_summary(summary)});
        bench::Json line;
        line.add("queue", name).add_integer("requests", std::uint64_t(length)).add("unit", "s");
        line.add("message", summary);
        job.report().record("queue", line);
    }
    auto const [least, most] = std::ranges::minmax(each);
    job.report().note(
        bench::text_of("each request that is in a long queue adds %.3g to %.3g ns to a message",
                       least * 1e9, most * 1e9));
}

}  // namespace

void measure_queues(Job& job) {
    if (job.run.ranks < 2) {
        job.report().note("\nqueue: left out, it needs a sender");
        return;
    }
    measure_queue(job, "posted", &Queue::posted);
    measure_queue(job, "unexpected", &Queue::unexpected);
}

}  // namespace sluice::collectives
