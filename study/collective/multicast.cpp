// What each provider of libfabric answers to a multicast group, and where it has one, a broadcast
// by it between the ranks: how many datagrams came, and how long it took. "Nonblocking collectives
// over InfiniBand" hopes for a broadcast by multicast (row I9).
#include <array>

#include "bench/measure/timing.hpp"
#include "study/collective/fabric_trial.hpp"
#include "study/collective/measuring.hpp"

namespace sluice::collectives {
namespace {

using bench::check;
using bench::now;

constexpr int datagrams = 200;
constexpr double patience_seconds = 0.02;

struct Broadcasts {
    double came = 0;     ///< Of all datagrams, on the rank that got fewest.
    double seconds = 0;  ///< Of one that came everywhere, until the root had heard of it.
};

/// Collective. Rank 0 sends one after the other, and hears by the MPI that it came.
Broadcasts broadcast(Job const& job, FabricGroup& group, std::span<std::byte> bytes,
                     std::string& why) {
    int came = 0, least = 0;
    double spent = 0;
    for (int i = 0; i < datagrams; ++i) {
        group.expect(bytes);
        check(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        double const begin = now();
        bool const is_root = job.run.rank == 0;
        if (is_root && why.empty()) group.send(bytes, why);
        bool got = false;
        while (!got && now() - begin < patience_seconds && why.empty()) got = group.took();
        came += got ? 1 : 0;
        check(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        spent += now() - begin;
    }
    check(PMPI_Allreduce(&came, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    return {double(least) / datagrams, spent / datagrams};
}

/// Collective. The same by the MPI's broadcast.
double broadcast_of_mpi(std::span<std::byte> bytes) {
    double spent = 0;
    for (int i = 0; i < datagrams; ++i) {
        check(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        double const begin = now();
        check(PMPI_Bcast(bytes.data(), int(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD),
              "MPI_Bcast");
        check(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
        spent += now() - begin;
    }
    return spent / datagrams;
}

bool all_have(bool mine) {
    int const own = mine ? 1 : 0;
    int all = 0;
    check(PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    return all == 1;
}

/// Collective.
void try_one(Job& job, std::string const& provider, bool are_datagrams) {
    std::string why = "another rank was refused";
    std::string const kind = are_datagrams ? "datagrams" : "reliable datagrams";
    auto const group = FabricGroup::join(provider, are_datagrams, why);
    bench::Json line;
    line.add("provider", provider).add("endpoint", kind);
    std::array<std::byte, 1024> memory{};
    if (!all_have(group != nullptr)) {
        job.report().row({provider, kind, "refused: " + why, "", ""});
        line.add("answer", why);
        return job.report().record("multicast", line);
    }
    why.clear();
    Broadcasts const found = broadcast(job, *group, memory, why);
    if (!all_have(why.empty())) {
        job.report().row({provider, kind, "joined, but " + why, "", ""});
        line.add("answer", "joined, but " + why);
        return job.report().record("multicast", line);
    }
    double const by_mpi = broadcast_of_mpi(memory);
    job.report().row({provider, kind, bench::text_of("%.1f %% came", 100 * found.came),
                      bench::text_of_seconds(found.seconds), bench::text_of_seconds(by_mpi)});
    line.add("answer", "joined").add_integer("most", group->most());
    line.add_integer("bytes", memory.size()).add("came", found.came);
    line.add("seconds", found.seconds).add("seconds_of_mpi", by_mpi);
    job.report().record("multicast", line);
}

}  // namespace

void measure_multicast(Job& job) {
    job.report().table("Multicast groups of libfabric's providers",
                       {"provider     ", "endpoint          ", "answer                         ",
                        "1 KiB to all and a barrier", "by MPI_Bcast"});
    for (char const* const provider : {"tcp", "tcp;ofi_rxm", "udp", "udp;ofi_rxd", "shm", "sockets",
                                       "verbs", "verbs;ofi_rxm", "efa", "cxi", "psm3", "opx"}) {
        for (bool const are_datagrams : {false, true}) try_one(job, provider, are_datagrams);
    }
}

}  // namespace sluice::collectives
