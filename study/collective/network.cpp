// Messages between two ranks over the MPI and over libfabric, by a thread that looks all the time
// and by one that sleeps until something comes: Netgauge's blocking ping-pong, and a window of
// messages one way. The transport of "Nonblocking collectives over InfiniBand" is within 5 % of the
// MPI's latency and bandwidth.
#include "study/collective/transports.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

constexpr int window = 16;

/// Half of the seconds of a round trip, between ranks 0 and 1.
double ping_pong(Transport& transport, int rank, std::span<std::byte> bytes, int times) {
    Network& network = transport.network();
    double const begin = now();
    for (int i = 0; i < times; ++i) {
        Message incoming = network.start_recv(1 - rank, 0, bytes);
        Message outgoing = rank == 0 ? network.start_send(1, 0, bytes, false) : Message{};
        if (rank == 0) transport.finish(outgoing);
        transport.finish(incoming);
        if (rank == 0) continue;
        outgoing = network.start_send(0, 0, bytes, false);
        transport.finish(outgoing);
    }
    return (now() - begin) / (2 * times);
}

/// Bytes a second from rank 0 to rank 1, so many windows.
double stream(Transport& transport, int rank, std::span<std::byte> bytes, int times) {
    std::vector<Message> messages(window);
    Network& network = transport.network();
    double const begin = now();
    for (int i = 0; i < times; ++i) {
        for (Message& message : messages) {
            message = rank == 0 ? network.start_send(1, 1, bytes, false)
                                : network.start_recv(0, 1, bytes);
        }
        for (Message& message : messages) transport.finish(message);
    }
    std::byte end{};
    std::span const word(&end, 1);
    Message last =
        rank == 0 ? network.start_recv(1, 2, word) : network.start_send(0, 2, word, false);
    transport.finish(last);
    return double(bytes.size()) * window * times / (now() - begin);
}

struct Link {
    double half_round_trip = 0, bandwidth = 0;
    double processor = 0;  ///< Seconds of both ranks for a GiB of the stream.
};

/// Collective.
Link measure_one(Job& job, Transport& transport, std::span<std::byte> bytes) {
    constexpr double gib = double(1 << 30), bytes_of_stream = double(64 << 20);
    int const rank = job.run.rank, times = bytes.size() > 100'000 ? 20 : 200;
    int const windows =
        std::max(1, int(std::min(200.0, bytes_of_stream / (double(bytes.size()) * window))));
    Link sample;
    bench::start_together();
    if (rank < 2) sample.half_round_trip = ping_pong(transport, rank, bytes, times);
    bench::start_together();
    double const before = processor_seconds();
    if (rank < 2) sample.bandwidth = stream(transport, rank, bytes, windows);
    double used = rank < 2 ? processor_seconds() - before : 0, of_both = 0;
    check(PMPI_Allreduce(&used, &of_both, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    sample.processor = of_both * gib / (double(bytes.size()) * window * windows);
    for (double Link::* value : {&Link::half_round_trip, &Link::bandwidth})
        check(PMPI_Bcast(&(sample.*value), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return sample;
}

void tell(Job& job, std::string const& name, std::size_t bytes, std::vector<Link> const& samples) {
    auto const trip = summary_of(samples, &Link::half_round_trip),
               speed = summary_of(samples, &Link::bandwidth),
               processor = summary_of(samples, &Link::processor);
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
                       {"bytes       ", "way                      ",
                        "half round trip: median (min .. max)", "MiB/s", "processor s/GiB"});
    std::vector<std::byte> memory(*std::max_element(sizes.begin(), sizes.end()));
    Transports transports(job, memory);
    Computation const computation(job.options.computing);
    Budget budget(job, sizes.size());
    for (auto const bytes : sizes) {
        if (!budget.has_time()) continue;
        std::span const buffer = std::span(memory).first(bytes);
        std::vector<std::vector<Link>> samples(transports.all.size());
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
