// Journals in memory have no names; /proc leads to those that a process has open. See
// journal_peers.hpp.
#include "behind/journal_peers.hpp"

#include "behind/journal_claim.hpp"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace sluice {

Descriptor open_journal_of(JournalKeeper const& keeper) {
    if (keeper.process <= 0) return {};
    std::string const path =
        "/proc/" + std::to_string(keeper.process) + "/fd/" + std::to_string(keeper.descriptor);
    Descriptor journal(open(path.c_str(), O_RDWR | O_CLOEXEC));
    JournalHeader header;
    bool const is_it = journal.get() >= 0 &&
                       pread(journal.get(), &header, sizeof header, 0) == sizeof header &&
                       header.keeper.name == keeper.name;
    return is_it ? std::move(journal) : Descriptor();
}

void await_keepers(std::span<JournalKeeper const> keepers) {
    for (JournalKeeper const& keeper : keepers) {
        Descriptor const journal = open_journal_of(keeper);
        MappedHeader const header(journal.get());
        if (header.get()) await_keeper(*header.get());
    }
}

void drop_complete(std::span<std::byte> journal, std::span<std::span<std::byte> const> peers) {
    for (JournalRecord const& record : records_of(journal)) {
        NumberedCall const call{record.opening, record.stamp};
        bool const is_complete = std::ranges::any_of(
            peers, [&](std::span<std::byte> peer) { return completed_calls(peer).has(call); });
        if (is_complete) clear(journal, record.slot);
    }
}

}  // namespace sluice
