// One exchange when a file is opened. See keepers.hpp.
#include "mpi/behind/keepers.hpp"

#include "behind/journal_peers.hpp"
#include "mpi/behind/rank_journal.hpp"
#include "system/launcher.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::vector<JournalPeer> peers_of(Team const& team, JournalPeer mine) {
    std::vector<JournalPeer> all(static_cast<std::size_t>(team.topology->rank_count()));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                   team.communicator);
    // As communicators number them in any order.
    std::ranges::sort(all, {}, [](JournalPeer const& peer) { return peer.keeper.name; });
    return all;
}

/// What each keeper will do when the ranks have ended, this rank can do now.
bool can_be_reached(JournalPeer const& peer) { return open_journal_of(peer).get() >= 0; }

bool introduce(Journal* journal, std::vector<JournalPeer> const& peers) {
    bool const has_keeper = journal != nullptr;
    auto const is_none = [](JournalPeer const& peer) { return peer.keeper.process == 0; };
    if (!has_keeper) return std::ranges::all_of(peers, is_none);
    bool const fits = peers.size() <= journal_peers_most;
    if (!fits || !std::ranges::all_of(peers, can_be_reached)) return false;
    journal->introduce(peers);
    return true;
}

}  // namespace

std::shared_ptr<OrderedCalls> OrderedCalls::create(std::shared_ptr<Journal> journal,
                                                   std::uint64_t opening) {
    auto const place = journal ? journal->begin_calls(opening) : 0;
    if (!place) return nullptr;
    return std::shared_ptr<OrderedCalls>(new OrderedCalls(std::move(journal), *place, opening));
}

OrderedCalls::OrderedCalls(std::shared_ptr<Journal> journal, std::size_t place,
                           std::uint64_t opening)
    : journal_(std::move(journal)),
      place_(place),
      opening_(opening) {}

OrderedCalls::~OrderedCalls() {
    if (journal_) journal_->end_calls(place_);
}

void OrderedCalls::note_complete(std::int64_t number) {
    if (journal_) journal_->note_complete(place_, number);
}

std::shared_ptr<OrderedCalls> introduce_keepers(Team& team, Bytes rank_bytes,
                                                std::uint64_t opening) {
    Topology const& topology = *team.topology;
    if (rank_bytes <= 0 || wants_durable_journal() || topology.node_count() > 1 ||
        topology.rank_count() != launched().ranks)
        return nullptr;
    auto const& journal = journal_of_rank(rank_bytes);
    auto const peers = peers_of(team, journal ? journal->as_peer() : JournalPeer{});
    NodeReduction::Words failed{};
    auto calls = introduce(journal.get(), peers) ? OrderedCalls::create(journal, opening) : nullptr;
    failed[0] = !calls;
    return team.largest(failed)[0] == 0 ? std::move(calls) : nullptr;
}

}  // namespace sluice
