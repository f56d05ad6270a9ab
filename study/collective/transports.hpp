// Ways to send messages between ranks, over the MPI and over libfabric, and to wait for them: by a
// thread that looks all the time, and by one that sleeps until something comes.
#pragma once
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "bench/measure/timing.hpp"
#include "mpi/progress/progress_states.hpp"
#include "study/collective/measuring.hpp"
#include "transport/fabric.hpp"
#include "transport/fabric_offers.hpp"
#include "transport/mpi.hpp"

namespace sluice::collectives {

inline double processor_seconds() {
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
        bench::check(message.failed() ? MPI_ERR_OTHER : MPI_SUCCESS, "a message");
    }
    [[nodiscard]] Network& network() const { return network_; }

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

/// Collective. The providers that rank 0 can use, which others may lack.
inline std::vector<std::string> providers_of_first_rank(int rank) {
    std::string names;
    for (FabricOffer const& offer : fabric_offers().all) {
        if (rank == 0 && offer.why_not.empty()) names += offer.provider + "\n";
    }
    int bytes = int(names.size());
    bench::check(PMPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
    names.resize(std::size_t(bytes));
    bench::check(PMPI_Bcast(names.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    std::vector<std::string> all;
    std::istringstream lines(names);
    for (std::string name; std::getline(lines, name);) all.push_back(name);
    return all;
}

/// Collective. The fabrics of all providers that all ranks have, and who uses them. `memory`, if
/// any, is what messages are sent from and received to; it outlives this.
struct Transports {
    static constexpr std::uint64_t context = 1;
    explicit Transports(Job& job, std::span<std::byte> memory = {}) : mpi(MPI_COMM_WORLD) {
        all.push_back(std::make_unique<Transport>("MPI, looking", mpi));
        all.push_back(std::make_unique<Napping>("MPI, napping", mpi));
        for (std::string const& provider : providers_of_first_rank(job.run.rank)) {
            if (!add(job, provider)) continue;
            all.push_back(std::make_unique<Transport>(provider + ", looking", *networks.back()));
            add_sleeping(provider + ", asleep");
            // What a cache of registrations can bring: this memory is registered once.
            if (memory.empty() || !add(job, provider)) continue;
            networks.back()->hold(memory);
            add_sleeping(provider + ", asleep, kept");
        }
    }
    void add_sleeping(std::string name) {
        all.push_back(
            std::make_unique<Sleeping>(std::move(name), *networks.back(), *fabrics.back()));
    }
    /// False: a rank has no such fabric.
    bool add(Job& job, std::string const& provider) {
        std::string why;
        auto fabric = Fabric::open({provider, 2, 60}, why);
        FabricCard const mine = fabric ? fabric->card() : FabricCard{};
        std::vector<FabricCard> cards(std::size_t(job.run.ranks));
        bench::check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine,
                                    MPI_BYTE, MPI_COMM_WORLD),
                     "MPI_Allgather");
        for (FabricCard const& card : cards) {
            if (card.name != 0) continue;
            job.report().note(provider + ": left out, " +
                              (fabric ? "another rank cannot use it" : why));
            return false;
        }
        std::vector<FabricIndex> peers;
        for (FabricCard const& card : cards) peers.push_back(fabric->meet(card));
        networks.push_back(std::make_unique<FabricNetwork>(*fabric, context, peers));
        fabrics.push_back(std::move(fabric));
        return true;
    }

    MpiNetwork mpi;
    std::vector<std::unique_ptr<Fabric>> fabrics;  // They outlive their networks.
    std::vector<std::unique_ptr<Network>> networks;
    std::vector<std::unique_ptr<Transport>> all;
};

}  // namespace sluice::collectives
