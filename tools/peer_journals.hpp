// What the ranks of a node have delayed together may overlap. So their keepers wait until all of
// these ranks have ended, or one of them goes on without those that have, and then one keeper after
// the other writes what is left of all that have ended, in the order of the calls.
#pragma once
#include "behind/journal_peers.hpp"
#include "tools/replay.hpp"

namespace sluice {

/// The journals of some ranks, as long as this lives.
class PeerJournals {
public:
    /// Opens those that are there: where both have ended, rank and keeper, there is none.
    explicit PeerJournals(std::span<JournalPeer const> peers);

    /// Whether each of the ranks, or its keeper, has ended, or one goes on without the others: then
    /// nobody completes what they had delayed together.
    [[nodiscard]] bool may_write() const noexcept;
    /// Until that is so. Blocks.
    void wait() const;
    /// Until no other keeper has this lock, which lasts as long as this. Blocks.
    void lock() const;
    /// The journals of the ranks that have ended, of which this has no more afterwards.
    [[nodiscard]] std::vector<MappedJournal> take_ended();

private:
    struct Peer {
        Descriptor keeper, rank, journal;
    };
    [[nodiscard]] bool has_ended(std::size_t peer) const noexcept;

    std::vector<Peer> peers_;
    std::vector<MappedJournal> mapped_;  ///< Of the same places.
};

}  // namespace sluice
