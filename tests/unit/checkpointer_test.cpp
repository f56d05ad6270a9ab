// When the thread of a durable journal makes a checkpoint: at once where somebody asks, or where
// more than half of the journal is used and a checkpoint makes room; else when its time has come.
// Only how long nothing may happen is a matter of the clock, and no slow machine makes a test fail.
#include "behind/checkpointer.hpp"
#include "system/descriptor.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

namespace sluice::checkpointer_test {
namespace {

constexpr Bytes room = 64 << 10, few = 1000;
constexpr std::chrono::hours never(24);
constexpr std::chrono::seconds patience(60);  ///< With a thread that does nothing.
constexpr std::chrono::milliseconds moment(20);

/// A durable journal in memory, and the thread that makes its checkpoints.
class Rank {
public:
    explicit Rank(std::chrono::milliseconds interval) : fd_(memfd_create("checkpointer_test", 0)) {
        Bytes const bytes = journal_bytes_for(room);
        if (ftruncate(fd_.get(), bytes) != 0) throw std::bad_alloc();
        journal_ = Journal::create(fd_.get(), bytes,
                                   {[] { return Error{}; }, [this] { return ++clock_; }});
        half = journal_->bytes() / 2;
        checkpointer_.emplace(journal_, [this] { make_checkpoint(); }, interval);
    }

    /// A write of so many bytes has returned; it is in its file when the entry ends.
    std::unique_ptr<Journal::Entry> delay(Bytes bytes) {
        Request request;
        request.bytes = bytes;
        auto entry = journal_->take(request, {{"/f", {7, 9}}, [] { return Error{}; }}, {0, bytes});
        if (!entry || entry->commit()) throw std::bad_alloc();
        return entry;
    }
    void wake() { checkpointer_->wake(); }
    void ask() { checkpointer_->ask(); }

    /// The bytes that the journal held at each checkpoint, as soon as there are `count`.
    std::vector<Bytes> checkpoints(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return held_.size() >= count; });
        return held_;
    }
    /// How often records were committed, or the thread woke up.
    [[nodiscard]] std::int64_t looks() const { return clock_; }
    /// A checkpoint that has begun does not end from now on, until it may.
    void let_end(bool may) {
        std::lock_guard const lock(mutex_);
        may_end_ = may;
        changed_.notify_all();
    }

    Bytes half = 0;

private:
    void make_checkpoint() {
        Bytes const held = journal_->used();
        (void)journal_->checkpoint();
        std::unique_lock lock(mutex_);
        held_.push_back(held);
        changed_.notify_all();
        changed_.wait_for(lock, patience, [&] { return may_end_; });
    }

    Descriptor fd_;
    std::atomic<std::int64_t> clock_ = 0;
    std::mutex mutex_;  ///< Guards the fields below.
    std::condition_variable changed_;
    std::vector<Bytes> held_;
    bool may_end_ = true;
    std::shared_ptr<Journal> journal_;
    std::optional<Checkpointer> checkpointer_;  ///< Ends first.
};

TEST(Checkpointer, MakesOneAtOnceWhereMoreThanHalfIsUsed) {
    Rank rank(never);
    auto first = rank.delay(few);
    rank.wake();
    first.reset();
    rank.wake();
    std::this_thread::sleep_for(moment);  // It has not to come now, and would be seen below.
    auto const second = rank.delay(rank.half);
    rank.wake();
    auto const held = rank.checkpoints(1);
    ASSERT_EQ(held.size(), 1U);
    EXPECT_GT(held[0], rank.half);
}

/// The record that a checkpoint would have to begin with is not in its file.
TEST(Checkpointer, MakesNoneThatGivesNoRoom) {
    Rank rank(never);
    auto first = rank.delay(few), second = rank.delay(rank.half);
    second.reset();
    rank.wake();
    std::this_thread::sleep_for(moment);
    EXPECT_TRUE(rank.checkpoints(0).empty());
    EXPECT_EQ(rank.looks(), 2) << "the thread does not sleep";
    first.reset();
    rank.wake();
    EXPECT_EQ(rank.checkpoints(1).size(), 1U);
}

TEST(Checkpointer, MakesOneAtOnceWhereSomebodyAsks) {
    Rank rank(never);
    auto first = rank.delay(few), second = rank.delay(few), third = rank.delay(few);
    first.reset();
    rank.let_end(false);
    rank.ask();
    EXPECT_EQ(rank.checkpoints(1).size(), 1U);
    second.reset();
    rank.ask();  // While the thread is busy with the first.
    rank.let_end(true);
    EXPECT_EQ(rank.checkpoints(2).size(), 2U);
}

TEST(Checkpointer, MakesOneWhenItsTimeHasCome) {
    Rank rank(std::chrono::milliseconds(1));
    auto first = rank.delay(few);
    rank.wake();
    first.reset();
    EXPECT_EQ(rank.checkpoints(1).size(), 1U);
}

}  // namespace
}  // namespace sluice::checkpointer_test
