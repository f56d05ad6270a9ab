// Journals in memory have no names; /proc leads to those that a process has open. See
// journal_peers.hpp.
#include "behind/journal_peers.hpp"

#include "behind/journal_claim.hpp"
#include "system/peer_process.hpp"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace sluice {
namespace {

Descriptor open_at(std::int32_t process, std::int32_t descriptor, std::uint64_t name) {
    if (process <= 0) return {};
    std::string const path =
        "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    Descriptor journal(open(path.c_str(), O_RDWR | O_CLOEXEC));
    JournalHeader header;
    bool const is_it = journal.get() >= 0 &&
                       pread(journal.get(), &header, sizeof header, 0) == sizeof header &&
                       header.keeper.name == name;
    return is_it ? std::move(journal) : Descriptor();
}

/// Other records have marks.
bool has_collective_record(int journal) {
    std::vector<std::uint64_t> slots(journal_slots);
    auto const bytes = static_cast<ssize_t>(slots.size() * sizeof slots[0]);
    if (pread(journal, slots.data(), slots.size() * sizeof slots[0], journal_page) != bytes)
        return false;
    return std::ranges::any_of(slots, [&](std::uint64_t place) {
        RecordHead head{};
        return place != 0 &&
               pread(journal, &head, sizeof head, static_cast<off_t>(place)) == sizeof head &&
               head.stamp > 0;
    });
}

}  // namespace

Descriptor open_journal_of(JournalPeer const& peer) {
    Descriptor of_keeper = open_at(peer.keeper.process, peer.keeper.descriptor, peer.keeper.name);
    if (of_keeper.get() >= 0) return of_keeper;
    return open_at(peer.rank_process, peer.rank_descriptor, peer.keeper.name);
}

void await_keepers(std::span<JournalPeer const> peers) {
    for (JournalPeer const& peer : peers) {
        Descriptor const journal = open_journal_of(peer);
        MappedHeader const header(journal.get());
        if (header.get()) await_keeper(*header.get());
    }
}

/// The processes are watched before the journal is opened: then all are of the same rank.
RecordsOfPeers::RecordsOfPeers(std::span<JournalPeer const> peers, JournalPeer const& own) {
    for (JournalPeer const& peer : peers) {
        if (peer.keeper.name == own.keeper.name) continue;
        Descriptor keeper = watch_process(peer.keeper.process);
        Descriptor rank = watch_process(peer.rank_process);
        Descriptor journal = open_journal_of(peer);
        if (journal.get() >= 0)
            peers_.push_back({std::move(journal), std::move(keeper), std::move(rank)});
    }
}

bool RecordsOfPeers::any() const {
    return std::ranges::any_of(peers_, [](Peer const& peer) {
        return !(has_ended(peer.keeper) && has_ended(peer.rank)) &&
               has_collective_record(peer.journal.get());
    });
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
