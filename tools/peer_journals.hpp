// What the ranks of a node have delayed may overlap. So their keepers wait until all of these ranks
// have ended, and one keeper after the other writes what is left of all, in the order of the calls.
#pragma once
#include "storage/journal_peers.hpp"
#include "tools/replay.hpp"

namespace sluice {

/// The journals of some keepers, as long as this lives.
class PeerJournals {
public:
    /// Opens those that are there. A keeper that has ended has left nothing to write.
    explicit PeerJournals(std::span<JournalKeeper const> keepers);

    /// Whether each of the ranks, or its keeper, has ended.
    [[nodiscard]] bool have_ended() const noexcept;
    /// Until they have. Blocks.
    void wait() const;
    /// Until no other keeper has this lock, which lasts as long as this. Blocks.
    void lock() const;
    [[nodiscard]] std::span<MappedJournal const> mapped() const noexcept { return mapped_; }

private:
    struct Peer {
        Descriptor process, journal;
    };
    [[nodiscard]] bool has_ended(std::size_t peer) const noexcept;

    std::vector<Peer> peers_;
    std::vector<MappedJournal> mapped_;  ///< Of the same places.
};

}  // namespace sluice
