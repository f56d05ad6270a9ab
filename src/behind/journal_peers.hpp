// Where the records of several ranks may overlap, their keepers must know of each other: they write
// what is left in the order of the calls, which needs the journals of all these ranks.
#pragma once
#include "behind/journal_format.hpp"

#include <span>

namespace sluice {

/// The journal of a rank, for reading and writing, with a file description of its own: its keeper
/// has it, or the rank itself. None where both are gone, or are other processes by now.
[[nodiscard]] Descriptor open_journal_of(JournalPeer const& peer);
/// Until those whose ranks have ended have written what these had delayed. Blocks.
void await_keepers(std::span<JournalPeer const> peers);

/// What ranks that share collective calls have left to write, after one of them was lost: each of
/// those that live writes its own bytes, and soon.
class RecordsOfPeers {
public:
    /// Those of the rank `own` do not count.
    RecordsOfPeers(std::span<JournalPeer const> peers, JournalPeer const& own);
    /// Whether there is a record of a collective call that somebody is going to write.
    [[nodiscard]] bool any() const;

private:
    struct Peer {
        Descriptor journal, keeper, rank;  ///< Processes poll readable when they have ended.
    };
    std::vector<Peer> peers_;
};

/// Takes the records out of a journal of a rank that has ended whose calls one of the ranks of
/// `peers` knows to be complete: their bytes are in the file, or newer ones are. These ranks must
/// have been told before: see JournalHeader::peers_written.
void drop_complete(std::span<std::byte> journal, std::span<std::span<std::byte> const> peers);

}  // namespace sluice
