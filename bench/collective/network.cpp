// Messages between two ranks over the MPI and over libfabric, by a thread that looks all the time
// and by one that sleeps until something comes: Netgauge's blocking ping-pong, and a window of
// messages one way. The transport of "Nonblocking collectives over InfiniBand" is within 5 % of the
// MPI's latency and bandwidth.
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "bench/collective/measuring.hpp"
#include "bench/measure/timing.hpp"
#include "mpi/progress/progress_states.hpp"
#include "transport/fabric.hpp"
#include "transport/mpi.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

constexpr int window = 16;
constexpr std::uint64_t context = 1;

double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto const seconds = [](timeval const& time) {
        return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// One way to send messages, and to wait for them.
class Transport {
public:
    explicit Transport(std::string its_name, Network& network)
        : name(std::move(its_name)),
          network_(network) {}
    virtual ~Transport() = default;

    void finish(Message& message) {
        for (wakes_ = 0; !network_.finished(message); ++wakes_) {
            if (!network_.progress()) pause();
        }
        check(message.failed() ? MPI_ERR_OTHER : MPI_SUCCESS, "a message");
    }
    /// Half of the seconds of a round trip, between ranks 0 and 1.
    double ping_pong(int rank, std::span<std::byte> bytes, int times) {
        double const begin = now();
        for (int i = 0; i < times; ++i) {
            Message incoming = network_.start_recv(1 - rank, 0, bytes);
            Message outgoing = rank == 0 ? network_.start_send(1, 0, bytes, false) : Message{};
            if (rank == 0) finish(outgoing);
            finish(incoming);
            if (rank == 0) continue;
            outgoing = network_.start_send(0, 0, bytes, false);
            finish(outgoing);
        }
        return (now() - begin) / (2 * times);
    }
    /// Bytes a second from rank 0 to rank 1, so many windows.
    double stream(int rank, std::span<std::byte> bytes, int times) {
        std::vector<Message> messages(window);
        double const begin = now();
        for (int i = 0; i < times; ++i) {
            for (Message& message : messages) {
                message = rank == 0 ? network_.start_send(1, 1, bytes, false)
                                    : network_.start_recv(0, 1, bytes);
            }
            for (Message& message : messages) finish(message);
        }
        std::byte end{};
        std::span const word(&end, 1);
        Message last =
            rank == 0 ? network_.start_recv(1, 2, word) : network_.start_send(0, 2, word, false);
        finish(last);
        return double(bytes.size()) * window * times / (now() - begin);
    }

    std::string name;

protected:
    virtual void pause() {}  ///< It looks all the time.
    int wakes_ = 0;
    Network& network_;
};

/// As the library waits for messages of the MPI: in naps that become longer.
class Napping final : public Transport {
public:
    using Transport::Transport;

private:
    void pause() override {
        int const doublings = std::min(wakes_ / PollState::equal_sleeps, 5);
        usleep(useconds_t(
            1e6 * std::min(PollState::short_sleep, PollState::due_sleep * (1 << doublings))));
    }
};

/// As it waits for messages of a fabric.
class Sleeping final : public Transport {
public:
    Sleeping(std::string its_name, Network& network, Fabric& fabric)
        : Transport(std::move(its_name), network),
          fabric_(fabric) {}

private:
    void pause() override {
        if (fabric_.descriptor() < 0 || !fabric_.may_sleep()) return;
        pollfd waited{fabric_.descriptor(), POLLIN, 0};
        poll(&waited, 1, fabric_.waits_for_room() ? 1 : 1000);
    }
    Fabric& fabric_;
};

/// Threads that keep a core of each rank busy while they live.
class Computation {
public:
    explicit Computation(bool runs) {
        if (runs)
            thread_ = std::thread([this] {
                while (!stops_) {
                }
            });
    }
    ~Computation() {
        stops_ = true;
        if (thread_.joinable()) thread_.join();
    }
    Computation(Computation const&) = delete;
    Computation& operator=(Computation const&) = delete;

private:
    std::atomic<bool> stops_{false};
    std::thread thread_;
};

/// Collective. The fabrics of all providers that all ranks have, and who uses them.
struct Transports {
    explicit Transports(Job& job) : mpi(MPI_COMM_WORLD) {
        all.push_back(std::make_unique<Transport>("MPI, looking", mpi));
        all.push_back(std::make_unique<Napping>("MPI, napping", mpi));
        for (FabricOffer const& offer : fabric_offers().all) {
            if (offer.why_not.empty()) add(job, offer.provider);
        }
    }
    void add(Job& job, std::string const& provider) {
        std::string why;
        auto fabric = Fabric::open({provider, 2, 60}, why);
        FabricCard const mine = fabric ? fabric->card() : FabricCard{};
        std::vector<FabricCard> cards(std::size_t(job.run.ranks));
        check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE,
                             MPI_COMM_WORLD),
              "MPI_Allgather");
        for (FabricCard const& card : cards) {
            if (card.name == 0) return job.report().note(provider + ": left out, " + why);
        }
        std::vector<FabricIndex> peers;
        for (FabricCard const& card : cards) peers.push_back(fabric->meet(card));
        networks.push_back(std::make_unique<FabricNetwork>(*fabric, context, peers));
        all.push_back(std::make_unique<Transport>(provider + ", looking", *networks.back()));
        all.push_back(std::make_unique<Sleeping>(provider + ", asleep", *networks.back(), *fabric));
        fabrics.push_back(std::move(fabric));
    }

    MpiNetwork mpi;
    std::vector<std::unique_ptr<Fabric>> fabrics;  // They outlive their networks.
    std::vector<std::unique_ptr<Network>> networks;
    std::vector<std::unique_ptr<Transport>> all;
};

struct Measured {
    double half_round_trip = 0, bandwidth = 0;
    double processor = 0;  ///< Seconds of both ranks for a GiB of the stream.
};

/// Collective.
Measured measure_one(Job& job, Transport& transport, std::span<std::byte> bytes) {
    constexpr double gib = double(1 << 30), bytes_of_stream = double(64 << 20);
    int const rank = job.run.rank, times = bytes.size() > 100'000 ? 20 : 200;
    int const windows =
        std::max(1, int(std::min(200.0, bytes_of_stream / (double(bytes.size()) * window))));
    Measured sample;
    bench::start_together();
    if (rank < 2) sample.half_round_trip = transport.ping_pong(rank, bytes, times);
    bench::start_together();
    double const before = processor_seconds();
    if (rank < 2) sample.bandwidth = transport.stream(rank, bytes, windows);
    double used = rank < 2 ? processor_seconds() - before : 0, of_both = 0;
    check(PMPI_Allreduce(&used, &of_both, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    sample.processor = of_both * gib / (double(bytes.size()) * window * windows);
    for (double Measured::* value : {&Measured::half_round_trip, &Measured::bandwidth})
        check(PMPI_Bcast(&(sample.*value), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return sample;
}

void tell(Job& job, std::string const& name, std::size_t bytes,
          std::vector<Measured> const& samples) {
    auto const trip = summary_of(samples, &Measured::half_round_trip),
               speed = summary_of(samples, &Measured::bandwidth),
               processor = summary_of(samples, &Measured::processor);
    job.report().row({bench::text_of_bytes(bytes), name, text_of_summary(trip),
                      bench::text_of("%.0f", speed.median / double(1 << 20)),
                      bench::text_of("%.2f", processor.median)});
    bench::Json line;
    line.add_integer("bytes", bytes).add("way", name).add("computing", job.options.computing);
    line.add("half_round_trip", trip).add("bandwidth", speed).add("processor", processor);
    job.report().record("network", line);
}

}  // namespace

void measure_network(Job& job) {
    if (job.run.ranks < 2) return job.report().note("\nnetwork: left out, there is one rank");
    auto const sizes = job.options.bytes.empty()
                           ? std::vector<std::uint64_t>{8, 1 << 10, 64 << 10, 1 << 20, 4 << 20}
                           : job.options.bytes;
    job.report().table(job.options.computing ? "Messages between two ranks, both computing"
                                             : "Messages between two ranks",
                       {"bytes       ", "way                 ",
                        "half round trip: median (min .. max)", "MiB/s", "processor s/GiB"});
    Transports transports(job);
    Computation const computation(job.options.computing);
    Budget budget(job, sizes.size());
    for (auto const bytes : sizes) {
        if (!budget.has_time()) continue;
        std::vector<std::byte> buffer(bytes);
        std::vector<std::vector<Measured>> samples(transports.all.size());
        budget.part("messages of " + bench::text_of_bytes(bytes), transports.all.size(),
                    [&](std::size_t which, int turn) {
                        auto const sample = measure_one(job, *transports.all[which], buffer);
                        if (turn >= 0) samples[which].push_back(sample);
                    });
        for (std::size_t i = 0; i < samples.size(); ++i)
            tell(job, transports.all[i]->name, bytes, samples[i]);
    }
}

}  // namespace sluice::collectives
