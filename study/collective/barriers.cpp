// Barriers by dissemination: in each round a rank tells the one 1, 2, 4 ... places ahead of it, by
// a message or by a counter that it raises there. "Nonblocking collectives over InfiniBand" hopes
// for a barrier by RDMA (row I9): no receive is posted, and nothing is matched.
#include "study/collective/fabric_trial.hpp"
#include "study/collective/transports.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

/// One way to do it.
class Barrier {
public:
    explicit Barrier(std::string its_name) : name(std::move(its_name)) {}
    virtual ~Barrier() = default;
    virtual void run() = 0;
    std::string name;
};

class BarrierOfMpi final : public Barrier {
public:
    BarrierOfMpi() : Barrier("MPI_Ibarrier") {}
    void run() override {
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Ibarrier(MPI_COMM_WORLD, &request);
        check(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
};

class BarrierByMessages final : public Barrier {
public:
    BarrierByMessages(Job const& job, Transport& transport)
        : Barrier("messages, " + transport.name),
          transport_(transport),
          rank_(job.run.rank),
          ranks_(job.run.ranks) {}
    void run() override {
        Network& network = transport_.network();
        for (int distance = 1; distance < ranks_; distance *= 2) {
            Message heard = network.start_recv((rank_ - distance + ranks_) % ranks_, distance, {});
            int const ahead = (rank_ + distance) % ranks_;
            Message told = network.start_send(ahead, distance, {}, false);
            transport_.finish(told);
            transport_.finish(heard);
        }
    }

private:
    Transport& transport_;
    int rank_, ranks_;
};

/// The n-th barrier is over when the counter of each round was raised n times: only one rank raises
/// it, once a barrier.
class BarrierByCounters final : public Barrier {
public:
    BarrierByCounters(Job const& job, std::string its_name, FabricCounters& counters,
                      std::uint64_t& done, bool sleeps)
        : Barrier(std::move(its_name)),
          counters_(counters),
          done_(done),
          sleeps_(sleeps),
          rank_(job.run.rank),
          ranks_(job.run.ranks) {}
    void run() override {
        ++done_;
        std::size_t round = 0;
        for (int distance = 1; distance < ranks_; distance *= 2, ++round) {
            auto const ahead = static_cast<std::size_t>((rank_ + distance) % ranks_);
            check(counters_.raise(ahead, round) ? MPI_SUCCESS : MPI_ERR_OTHER, "a counter");
            while (counters_.raised(round) < done_) {
                if (sleeps_) counters_.sleep(round);
            }
        }
    }

private:
    FabricCounters& counters_;
    std::uint64_t& done_;  ///< Barriers on these counters, also by others.
    bool sleeps_;
    int rank_, ranks_;
};

struct CountersInUse {
    std::unique_ptr<FabricCounters> counters;
    std::uint64_t done = 0;
};

/// Collective. All ways that all ranks have.
struct Barriers {
    explicit Barriers(Job& job) : transports(job) {
        all.push_back(std::make_unique<BarrierOfMpi>());
        for (auto const& transport : transports.all)
            all.push_back(std::make_unique<BarrierByMessages>(job, *transport));
        for (char const* const provider : {"tcp", "tcp;ofi_rxm"}) {
            for (Raising const raising : {Raising::by_data, Raising::by_atomic, Raising::by_event})
                add(job, provider, raising);
        }
    }
    void add(Job& job, std::string const& provider, Raising raising) {
        std::string const name = std::string(describe(raising)) + ", " + provider;
        std::string why = "another rank was refused";
        auto its = std::make_unique<CountersInUse>();
        its->counters = FabricCounters::open(provider, raising, why);
        TrialCard const mine = its->counters ? its->counters->card() : TrialCard{};
        std::vector<TrialCard> cards(std::size_t(job.run.ranks));
        check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE,
                             MPI_COMM_WORLD),
              "MPI_Allgather");
        for (TrialCard const& card : cards)
            if (card.address_bytes == 0) return tell_refusal(job, name, why);
        for (TrialCard const& card : cards) its->counters->meet(card);
        for (bool const sleeps : {false, true}) {
            all.push_back(
                std::make_unique<BarrierByCounters>(job, name + (sleeps ? ", asleep" : ", looking"),
                                                    *its->counters, its->done, sleeps));
        }
        in_use.push_back(std::move(its));
    }
    static void tell_refusal(Job& job, std::string const& name, std::string const& why) {
        job.report().note(name + ": left out, " + why);
        bench::Json line;
        line.add("way", name).add("answer", why);
        job.report().record("barrier", line);
    }

    Transports transports;
    std::vector<std::unique_ptr<CountersInUse>> in_use;
    std::vector<std::unique_ptr<Barrier>> all;
};

struct Measured {
    double seconds = 0;    ///< Of one, on the slowest rank.
    double processor = 0;  ///< Seconds of one, of all ranks together.
};

/// Collective.
Measured measure_one(Barrier& barrier, int times) {
    barrier.run();
    bench::start_together();
    double const before = processor_seconds(), begin = now();
    for (int i = 0; i < times; ++i) barrier.run();
    Measured mine{(now() - begin) / times, (processor_seconds() - before) / times}, all;
    check(PMPI_Allreduce(&mine.seconds, &all.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
          "MPI_Allreduce");
    check(PMPI_Allreduce(&mine.processor, &all.processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
          "MPI_Allreduce");
    return all;
}

void tell(Job& job, std::string const& name, std::vector<Measured> const& samples) {
    auto const seconds = summary_of(samples, &Measured::seconds),
               processor = summary_of(samples, &Measured::processor);
    job.report().row({name, text_of_summary(seconds), text_of_summary(processor)});
    bench::Json line;
    line.add("way", name).add("computing", job.options.computing);
    line.add("seconds", seconds).add("processor", processor);
    job.report().record("barrier", line);
}

}  // namespace

void measure_barriers(Job& job) {
    if (job.run.ranks < 2) return job.report().note("\nbarrier: left out, there is one rank");
    constexpr int times = 300;
    job.report().table(job.options.computing ? "Barriers, all ranks computing" : "Barriers",
                       {"way                                     ",
                        "one barrier: median (min .. max)", "processor of all ranks"});
    Barriers barriers(job);
    Computation const computation(job.options.computing);
    Budget budget(job, 1);
    if (!budget.has_time()) return;
    std::vector<std::vector<Measured>> samples(barriers.all.size());
    budget.part("barriers", barriers.all.size(), [&](std::size_t which, int turn) {
        auto const sample = measure_one(*barriers.all[which], times);
        if (turn >= 0) samples[which].push_back(sample);
    });
    for (std::size_t i = 0; i < samples.size(); ++i) tell(job, barriers.all[i]->name, samples[i]);
}

}  // namespace sluice::collectives
