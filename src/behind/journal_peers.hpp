// Where the records of several ranks may overlap, their keepers must know of each other: they write
// what is left in the order of the calls, which needs the journals of all these ranks.
#pragma once
#include "behind/journal_format.hpp"

#include <span>

namespace sluice {

/// The journal of a keeper, for reading and writing, with a file description of its own; none where
/// the keeper is gone, or belongs to somebody else.
[[nodiscard]] Descriptor open_journal_of(JournalKeeper const& keeper);
/// Until those whose ranks have ended have written what these had delayed. Blocks.
void await_keepers(std::span<JournalKeeper const> keepers);

/// Takes the records out of a journal of a rank that has ended whose calls one of the ranks of
/// `peers` knows to be complete: their bytes are in the file, or newer ones are. These ranks must
/// have been told before: see JournalHeader::peers_written.
void drop_complete(std::span<std::byte> journal, std::span<std::span<std::byte> const> peers);

}  // namespace sluice
