// One exchange when a file is opened. See keepers.hpp.
#include "mpi/behind/keepers.hpp"

#include "behind/journal_peers.hpp"
#include "mpi/behind/rank_journal.hpp"
#include "system/launcher.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::vector<JournalKeeper> keepers_of(Team const& team, JournalKeeper mine) {
    std::vector<JournalKeeper> all(static_cast<std::size_t>(team.topology->rank_count()));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                   team.communicator);
    std::ranges::sort(all, {}, &JournalKeeper::name);  // As communicators number them in any order.
    return all;
}

/// What each keeper will do when the ranks have ended, this rank can do now.
bool can_be_reached(JournalKeeper const& keeper) { return open_journal_of(keeper).get() >= 0; }

bool introduce(Journal* journal, std::vector<JournalKeeper> const& keepers) {
    bool const has_keeper = journal != nullptr;
    auto const is_none = [](JournalKeeper const& keeper) { return keeper.process == 0; };
    if (!has_keeper) return std::ranges::all_of(keepers, is_none);
    bool const fits = keepers.size() <= journal_peers_most;
    if (!fits || !std::ranges::all_of(keepers, can_be_reached)) return false;
    journal->introduce(keepers);
    return true;
}

}  // namespace

bool introduce_keepers(Team& team, Bytes node_bytes) {
    Topology const& topology = *team.topology;
    if (node_bytes <= 0 || wants_durable_journal() || topology.node_count() > 1 ||
        topology.rank_count() != launched_ranks())
        return false;
    auto const& journal = journal_of_rank(node_bytes);
    auto const keepers = keepers_of(team, journal ? journal->keeper() : JournalKeeper{});
    NodeReduction::Words failed{};
    failed[0] = !introduce(journal.get(), keepers);
    return team.largest(failed)[0] == 0;
}

}  // namespace sluice
