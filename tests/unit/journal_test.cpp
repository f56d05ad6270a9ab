// What a journal holds is read back as it was, whatever the layout of the file's bytes; and what is
// no record is none.
#include "request_places.hpp"

#include "behind/journal.hpp"
#include "behind/journal_peers.hpp"

#include "base/layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::journal_test {
namespace {

/// A file in memory, mapped a second time as a keeper does it.
class MappedJournal {
public:
    explicit MappedJournal(Bytes bytes)
        : bytes_(journal_bytes_for(bytes)),
          fd_(memfd_create("journal_test", 0)) {
        if (ftruncate(fd_.get(), bytes_) != 0) throw std::bad_alloc();
        journal = Journal::create(fd_.get(), bytes_);
        seen_ = Mapping::of(fd_.get(), {0, bytes_});
        if (!seen_->open({0, bytes_})) throw std::bad_alloc();
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    std::span<std::byte> bytes() { return {seen_->data(), static_cast<std::size_t>(bytes_)}; }

    std::shared_ptr<Journal> journal;

private:
    Bytes bytes_;
    Descriptor fd_;
    std::optional<Mapping> seen_;
};

Request drawn_request() {
    Request r;
    r.view.displacement = *rc::gen::inRange<Offset>(0, 1'000'000);
    if (*rc::gen::arbitrary<bool>()) {
        Extents extents;
        Offset at = 0;
        int const count = *rc::gen::inRange(1, 20);
        for (int i = 0; i < count; ++i) {
            Bytes const length = *rc::gen::inRange<Bytes>(1, 300);
            extents.add({at, length, 0, 1});
            at += length + *rc::gen::inRange<Offset>(1, 100);
        }
        r.view.filetype = std::make_shared<Layout const>(std::move(extents).take(), at);
    }
    r.position = *rc::gen::inRange<Bytes>(0, 1000);
    r.bytes = *rc::gen::inRange<Bytes>(1, 3000);
    return r;
}

RC_GTEST_PROP(Journal, RecordsAreReadBackInTheirOrder, ()) {
    MappedJournal mapped(1 << 20);
    std::vector<Request> requests;
    std::vector<std::unique_ptr<Journal::Entry>> entries;
    auto const count = *rc::gen::inRange<std::size_t>(1, 12);
    JournaledFile const file{"/a/file of " + std::to_string(count), {7, 9}};
    for (std::size_t i = 0; i < count; ++i) {
        Request const request = drawn_request();
        if (!mapped.journal->could_take(request, file)) continue;
        auto entry = mapped.journal->take(request, file);
        RC_ASSERT(entry != nullptr);
        std::memset(entry->data(), static_cast<int>(i + 1),
                    static_cast<std::size_t>(request.bytes));
        RC_ASSERT(records_of(mapped.bytes()).size() == entries.size());  // Not before commit().
        RC_ASSERT(!entry->commit());
        requests.push_back(request);
        entries.push_back(std::move(entry));
    }
    auto const records = records_of(mapped.bytes());
    RC_ASSERT(records.size() == requests.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        RC_ASSERT(records[i].path == file.path);
        RC_ASSERT(records[i].identity == file.identity);
        RC_ASSERT(places_of(records[i].request) == places_of(requests[i]));
        RC_ASSERT(std::memcmp(records[i].data, entries[i]->data(),
                              static_cast<std::size_t>(requests[i].bytes)) == 0);
    }
    if (!records.empty()) clear(mapped.bytes(), records[0].slot);
    RC_ASSERT(records_of(mapped.bytes()).size() + 1 == std::max<std::size_t>(records.size(), 1));
    entries.clear();
    RC_ASSERT(records_of(mapped.bytes()).empty());
}

TEST(Journal, WhatIsNoRecordIsPassedOver) {
    MappedJournal mapped(1 << 16);
    for (std::uint64_t const place : {std::uint64_t{64}, std::uint64_t{1} << 15, ~std::uint64_t{0},
                                      std::uint64_t{(1 << 16) + 32704}}) {
        std::memcpy(mapped.bytes().data() + journal_page, &place, sizeof place);
        EXPECT_TRUE(records_of(mapped.bytes()).empty()) << place;
    }
    EXPECT_TRUE(records_of({}).empty());
}

TEST(Journal, MemoryIsUsedAgainAndBounded) {
    MappedJournal mapped(1 << 16);
    Request request;
    request.bytes = 40'000;
    JournaledFile const file{"/f", {}};
    auto first = mapped.journal->take(request, file);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(mapped.journal->take(request, file), nullptr);
    first.reset();
    EXPECT_NE(mapped.journal->take(request, file), nullptr);
    request.bytes = 1 << 16;
    EXPECT_FALSE(mapped.journal->could_take(request, file));
}

TEST(Journal, ARecordInMemoryTellsTheOrderOfItsCall) {
    MappedJournal mapped(1 << 16);
    Request request;
    request.bytes = 10;
    std::vector<std::unique_ptr<Journal::Entry>> entries;
    for (std::int64_t const order : {3, 1, 2}) {
        entries.push_back(mapped.journal->take(request, {"/f", {}}, {}, {7, order}));
        ASSERT_FALSE(entries.back()->commit());
    }
    std::vector<std::int64_t> stamps;
    for (JournalRecord const& record : records_of(mapped.bytes())) stamps.push_back(record.stamp);
    EXPECT_EQ(stamps, (std::vector<std::int64_t>{3, 1, 2}));
}

/// Also where there are as many of them as there is room for: records begin behind them.
TEST(Journal, PeersAreReadBack) {
    MappedJournal mapped(1 << 16);
    EXPECT_TRUE(journal_peers(mapped.bytes()).empty());
    std::vector<JournalPeer> peers;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(journal_peers_most); ++i)
        peers.push_back({{i + 1, 2 * i, static_cast<std::uint64_t>(i) << 40}, i + 7, 3 * i});
    mapped.journal->introduce(peers);
    EXPECT_TRUE(records_of(mapped.bytes()).empty());
    auto const found = journal_peers(mapped.bytes());
    ASSERT_EQ(found.size(), peers.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].keeper.process, peers[i].keeper.process);
        EXPECT_EQ(found[i].keeper.descriptor, peers[i].keeper.descriptor);
        EXPECT_EQ(found[i].keeper.name, peers[i].keeper.name);
        EXPECT_EQ(found[i].rank_process, peers[i].rank_process);
        EXPECT_EQ(found[i].rank_descriptor, peers[i].rank_descriptor);
    }
}

TEST(Journal, AnotherProcessFindsItByItsKeeper) {
    MappedJournal mapped(1 << 16);
    JournalKeeper keeper{static_cast<std::int32_t>(getpid()), mapped.fd(), 0x1234};
    EXPECT_LT(open_journal_of({keeper}).get(), 0) << "the name is not the header's";
    header_of(mapped.bytes())->keeper = keeper;
    EXPECT_EQ(identity_of(open_journal_of({keeper}).get()), identity_of(mapped.fd()));
    keeper.descriptor = 1'000'000;
    EXPECT_LT(open_journal_of({keeper}).get(), 0) << "there is no such descriptor";
    EXPECT_LT(open_journal_of({}).get(), 0);
    JournalPeer const rank{keeper, static_cast<std::int32_t>(getpid()), mapped.fd()};
    EXPECT_EQ(identity_of(open_journal_of(rank).get()), identity_of(mapped.fd()))
        << "the rank has it, if the keeper was killed";
}

/// Of each handle: what one of the others knows to be complete is not written again.
TEST(Journal, RecordsOfCallsThatAPeerKnowsToBeCompleteAreDropped) {
    MappedJournal mine(1 << 16), other(1 << 16), third(1 << 16);
    auto const place = other.journal->begin_calls(7);
    ASSERT_TRUE(place);
    other.journal->note_complete(*place, 2);
    Request request;
    request.bytes = 10;
    std::vector<std::unique_ptr<Journal::Entry>> entries;
    for (NumberedCall const call : {NumberedCall{7, 1}, {7, 2}, {8, 2}, {}}) {
        entries.push_back(mine.journal->take(request, {"/f", {}}, {}, call));
        ASSERT_FALSE(entries.back()->commit());
    }
    std::array const peers{third.bytes(), other.bytes(), mine.bytes()};
    drop_complete(mine.bytes(), peers);
    std::vector<std::pair<std::uint64_t, std::int64_t>> left;
    for (JournalRecord const& record : records_of(mine.bytes()))
        left.emplace_back(record.opening, record.stamp);
    EXPECT_EQ(left, (std::vector<std::pair<std::uint64_t, std::int64_t>>{{7, 1}, {8, 2}, {0, 0}}));
}

/// Records of independent writes do not count, nor this rank's own.
TEST(Journal, WhatPeersHaveLeftTogetherIsSeen) {
    auto const self = static_cast<std::int32_t>(getpid());
    MappedJournal mine(1 << 16), other(1 << 16);
    JournalPeer const me{{self, mine.fd(), 1}}, peer{{self, other.fd(), 2}};
    header_of(mine.bytes())->keeper = me.keeper;
    header_of(other.bytes())->keeper = peer.keeper;
    RecordsOfPeers const records(std::array{me, peer}, me);
    Request request;
    request.bytes = 10;
    auto own = mine.journal->take(request, {"/f", {}}, {}, {7, 1});
    auto alone = other.journal->take(request, {"/f", {}});
    ASSERT_FALSE(own->commit());
    ASSERT_FALSE(alone->commit());
    EXPECT_FALSE(records.any());
    auto together = other.journal->take(request, {"/f", {}}, {}, {7, 1});
    ASSERT_FALSE(together->commit());
    EXPECT_TRUE(records.any());
    together.reset();
    EXPECT_FALSE(records.any());
}

/// A list of single bytes would be longer than what it describes.
TEST(Journal, LongListsAreRefused) {
    MappedJournal mapped(1 << 22);
    std::vector<sluice::Run> runs;
    for (Offset i = 0; i < 20'000; ++i) runs.push_back({i * i, 1, 0, 1});
    Request request;
    request.view.filetype = std::make_shared<Layout const>(runs, Offset{1} << 30);
    request.bytes = 20'000;
    EXPECT_FALSE(mapped.journal->could_take(request, {"/f", {}}));
}

}  // namespace
}  // namespace sluice::journal_test
