// How hosts and ranks in hints are found in the communicator. See agreed_hints.hpp.
#include "mpi/file/agreed_hints.hpp"

#include "file/plan/placement.hpp"
#include "system/log.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// The name of each rank's host, on rank 0.
std::vector<std::string> hosts_of(Team const& team) {
    std::vector<char> own(MPI_MAX_PROCESSOR_NAME, 0);
    int length = 0;
    PMPI_Get_processor_name(own.data(), &length);
    auto const ranks = static_cast<std::size_t>(team.topology->rank_count());
    std::vector<char> all(team.self == 0 ? ranks * own.size() : 0);
    auto const bytes = static_cast<int>(own.size());
    PMPI_Gather(own.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, 0, team.communicator);
    std::vector<std::string> hosts;
    for (std::size_t at = 0; at < all.size(); at += own.size()) hosts.emplace_back(&all[at]);
    return hosts;
}

/// On rank 0: what can be obeyed of it.
std::vector<Rank> obeyed(std::vector<Rank> ranks, char const* hint, Team const& team) {
    bool const there = std::all_of(ranks.begin(), ranks.end(),
                                   [&](Rank rank) { return rank < team.topology->rank_count(); });
    std::string const name = std::string("hint ") + hint;
    if (!there) {
        warn(name + " names ranks that are not in the file's communicator; it is ignored");
        return {};
    }
    if (ranks.empty()) warn(name + " leaves no rank for an aggregator; it is ignored");
    return ranks;
}

}  // namespace

void hear_system_hints(FileHints& hints, std::string const& text) {
    if (text.empty()) return;
    std::vector<Complaint> complaints;
    PageCache const page_cache = hints.page_cache;
    hints = read_hints_behind(hints_in_lines(text), hints, complaints);
    hints.page_cache = page_cache;
    for (auto const& complaint : complaints)
        warn("file of hints ($ROMIO_HINTS or /etc/romio-hints): " + complaint.text);
}

std::vector<Rank> agreed_aggregators(Placement const& placement, Team const& team) {
    auto const hosts = hosts_of(team);
    std::vector<Rank> ranks;
    if (team.self == 0) {
        ranks = placement.ranks.empty()
                    ? obeyed(ranks_of(placement.hosts, hosts), "cb_config_list", team)
                    : obeyed(placement.ranks, "sluice_aggregators", team);
    }
    auto count = static_cast<int>(ranks.size());
    PMPI_Bcast(&count, 1, MPI_INT, 0, team.communicator);
    ranks.resize(static_cast<std::size_t>(count));
    PMPI_Bcast(ranks.data(), count, MPI_INT, 0, team.communicator);
    return ranks;
}

}  // namespace sluice
