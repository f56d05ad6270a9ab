// All keepers lock the same journals in the same order. See peer_journals.hpp.
#include "tools/peer_journals.hpp"

#include "system/peer_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <thread>

namespace sluice {
namespace {

/// The whole file, for this file description.
void lock_file(int fd) noexcept {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    while (fcntl(fd, F_OFD_SETLKW, &whole) != 0 && errno == EINTR) {
    }
}

}  // namespace

/// The processes are watched before the journal is opened: then all are of the same rank.
PeerJournals::PeerJournals(std::span<JournalPeer const> peers) {
    for (JournalPeer const& one : peers) {
        Peer peer{watch_process(one.keeper.process), watch_process(one.rank_process),
                  open_journal_of(one)};
        auto mapped = MappedJournal::of(peer.journal.get());
        if (!mapped) continue;
        peers_.push_back(std::move(peer));
        mapped_.push_back(std::move(*mapped));
    }
}

/// A keeper says so when it has written what only its rank had bytes of. A rank that lives on needs
/// none.
bool PeerJournals::has_ended(std::size_t peer) const noexcept {
    if (std::atomic_ref(mapped_[peer].header().rank_ended).load() != 0) return true;
    return sluice::has_ended(peers_[peer].keeper) && sluice::has_ended(peers_[peer].rank);
}

bool PeerJournals::may_write() const noexcept {
    bool have_ended = true;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (has_ended(i)) continue;
        if (std::atomic_ref(mapped_[i].header().goes_on).load() != 0) return true;
        have_ended = false;
    }
    return have_ended;
}

/// Soon where a launcher ends them, and seldom where they go on for hours.
void PeerJournals::wait() const {
    constexpr std::chrono::milliseconds longest(200);
    for (std::chrono::milliseconds pause(2); !may_write(); pause = std::min(2 * pause, longest))
        std::this_thread::sleep_for(pause);
}

/// Those that go on may write at any time, but for what they know to be complete only when they
/// have noted that: see Journal::note_complete().
std::vector<MappedJournal> PeerJournals::take_ended() {
    std::vector<std::span<std::byte>> all;
    for (MappedJournal const& peer : mapped_) {
        std::atomic_ref(peer.header().peers_written).fetch_add(1);
        all.push_back(peer.bytes());
    }
    std::vector<MappedJournal> ended;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (!has_ended(i)) continue;
        drop_complete(mapped_[i].bytes(), all);
        ended.push_back(std::move(mapped_[i]));
    }
    mapped_.clear();
    return ended;
}

void PeerJournals::lock() const {
    for (Peer const& peer : peers_) lock_file(peer.journal.get());
}

}  // namespace sluice
