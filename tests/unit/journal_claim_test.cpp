// Who has a journal that several processes inherit: one at a time, the one that was meant, and
// after a process that was killed nobody before its keeper has written what it left.
#include "behind/journal_claim.hpp"

#include "behind/journal.hpp"
#include "system/peer_process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sluice::journal_claim_test {
namespace {

constexpr Bytes room = 1 << 20;

/// As `sluice run` leaves one: in memory, with a header that has a name. This process keeps it.
class Inherited {
public:
    Inherited() : fd_(memfd_create("journal", 0)) {
        EXPECT_EQ(ftruncate(fd_.get(), bytes), 0);
        mapping_ = Mapping::of(fd_.get(), {0, bytes});
        EXPECT_TRUE(mapping_ && mapping_->open({0, bytes}));
        format_journal(all(), {}, false);
        header().keeper = {static_cast<std::int32_t>(getpid()), fd_.get(), 0x5eed};
        header().process_namespace = own_process().namespace_;
    }
    [[nodiscard]] JournalHeader& header() const { return *header_of(all()); }
    [[nodiscard]] std::string told() const { return told_journal(fd_.get(), header()); }
    [[nodiscard]] ClaimedJournal claim() const { return claim_journal(told().c_str()); }
    [[nodiscard]] std::shared_ptr<Journal> journal() const {
        return Journal::create(fd_.get(), bytes);
    }
    [[nodiscard]] int fd() const { return fd_.get(); }

private:
    static constexpr Bytes bytes = journal_records + room;
    [[nodiscard]] std::span<std::byte> all() const {
        return {mapping_->data(), static_cast<std::size_t>(bytes)};
    }

    Descriptor fd_;
    std::optional<Mapping> mapping_;
};

/// A child does this and ends.
template <class Act> void in_child(Act act) {
    pid_t const child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
}

TEST(JournalClaim, IsOfOneProcess) {
    Inherited const inherited;
    ClaimedJournal const first = inherited.claim();
    EXPECT_EQ(first.fd, inherited.fd());
    EXPECT_EQ(first.why, "");
    EXPECT_EQ(owner_of(inherited.header()), static_cast<std::uint32_t>(getpid()));
    in_child([&] {
        ClaimedJournal const second = inherited.claim();
        if (second.fd >= 0 || second.why.empty()) _exit(1);
    });
}

TEST(JournalClaim, NothingToldIsNoJournalAndNoComplaint) {
    for (char const* const told : {"", "7", "-1:1:1:1", "7:1:1:0", "7:1:1:1 ", "x"}) {
        ClaimedJournal const claimed = claim_journal(told);
        EXPECT_LT(claimed.fd, 0) << told;
        EXPECT_EQ(claimed.why, "") << told;
    }
    EXPECT_LT(claim_journal(nullptr).fd, 0);
}

TEST(JournalClaim, AnotherFileInItsPlaceIsNotTouched) {
    Inherited const inherited, other;
    std::string const told = inherited.told();
    std::string const elsewhere = std::to_string(other.fd()) + told.substr(told.find(':'));
    EXPECT_LT(claim_journal(elsewhere.c_str()).fd, 0);
    EXPECT_NE(claim_journal(elsewhere.c_str()).why, "");
    EXPECT_EQ(owner_of(other.header()), 0U);
    EXPECT_LT(claim_journal(("1000000" + told.substr(told.find(':'))).c_str()).fd, 0);
}

TEST(JournalClaim, AnotherNameOrNamespaceIsNotIt) {
    Inherited const inherited;
    std::string const told = inherited.told();
    inherited.header().keeper.name = 0x0dd;
    EXPECT_NE(claim_journal(told.c_str()).why, "");
    inherited.header().keeper.name = 0x5eed;
    inherited.header().process_namespace += 1;
    EXPECT_NE(claim_journal(told.c_str()).why, "");
    inherited.header().process_namespace -= 1;
    JournalHeader& header = inherited.header();
    header.mark = 0;
    EXPECT_NE(claim_journal(told.c_str()).why, "");
    EXPECT_EQ(header.owner, 0U);
}

TEST(JournalClaim, PassesOnAndNumbersGoOn) {
    Inherited const inherited;
    ASSERT_GE(inherited.claim().fd, 0);
    store_void_below(inherited.header(), 100);
    inherited.journal()->release();
    EXPECT_EQ(owner_of(inherited.header()), 0U);
    ASSERT_GE(inherited.claim().fd, 0);
    EXPECT_EQ(inherited.journal()->next_number(), 100U);
}

TEST(JournalClaim, WaitsForTheKeeperOfAKilledProcess) {
    Inherited const inherited;
    in_child([&] {
        if (inherited.claim().fd < 0) _exit(1);
    });
    std::uint32_t const dead = owner_of(inherited.header());
    std::atomic<bool> written{false};
    std::thread keeper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        EXPECT_TRUE(end_claims(inherited.header(), dead));
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        written = true;
        note_written(inherited.header());
    });
    ClaimedJournal const next = inherited.claim();
    EXPECT_TRUE(written);
    EXPECT_LT(next.fd, 0);
    EXPECT_NE(next.why, "");
    keeper.join();
}

/// Its thread sleeps on the journal for ever.
TEST(JournalClaim, ItsKeeperHearsOfEachOwner) {
    static auto const* const inherited = new Inherited;
    static std::atomic<int> heard{0};
    std::thread([] { watch_claims(inherited->header(), [] { ++heard; }); }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_GE(inherited->claim().fd, 0);
    for (int i = 0; i < 1000 && heard == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(heard, 1);
    EXPECT_FALSE(end_claims(inherited->header(), 0)) << "it has an owner";
}

}  // namespace
}  // namespace sluice::journal_claim_test
