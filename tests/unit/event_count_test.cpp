// The event count: nobody sleeps through a notification, in threads and in processes, and a
// notification that nobody waits for is no event.
#include "system/event_count.hpp"
#include "system/wake_socket.hpp"

#include <gtest/gtest.h>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

namespace sluice::event_count_test {
namespace {

constexpr double long_sleep = 20;  ///< Who sleeps through a notification is seen by this.
constexpr double too_long = 5;
constexpr std::uint32_t turns = 5000;

double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Two players take turns: each waits until the number is odd, or even, and then adds one.
struct Game {
    EventCount counts[2];
    std::atomic<std::uint32_t> number;
};

/// Waits as one who sleeps for long does; false where it slept through the other's turn.
bool wait_for_turn(Game& game, std::uint32_t self) {
    EventWaiter waiter(game.counts[self]);
    double const begin = now();
    for (;;) {
        std::uint32_t const seen = game.counts[self].events.load();
        if (game.number.load(std::memory_order_acquire) % 2 == self) break;
        if (!waiter.announce(true)) waiter.sleep(seen, long_sleep);
    }
    return now() - begin < too_long;
}

bool play(Game& game, std::uint32_t self) {
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
        if (!wait_for_turn(game, self)) return false;
        // A plain store, as of a peer that writes to a ring: the barrier is the waiter's.
        game.number.store(game.number.load(std::memory_order_relaxed) + 1,
                          std::memory_order_release);
        notify_waiters(game.counts[1 - self]);
    }
    return true;
}

TEST(EventCount, NoThreadSleepsThroughANotification) {
    Game game{};
    bool other = false;
    std::thread thread([&] { other = play(game, 1); });
    EXPECT_TRUE(play(game, 0));
    thread.join();
    EXPECT_TRUE(other);
    EXPECT_EQ(game.number, 2 * turns);
}

TEST(EventCount, NoProcessSleepsThroughANotification) {
    void* const memory =
        mmap(nullptr, sizeof(Game), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& game = *new (memory) Game{};
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(play(game, 1) ? 0 : 1);
    EXPECT_TRUE(play(game, 0));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(game.number, 2 * turns);
    munmap(memory, sizeof(Game));
}

TEST(EventCount, OnlyWhoAnnouncedItselfIsNotified) {
    EventCount count{};
    notify_waiters(count);
    EXPECT_EQ(count.events, 0u);
    EventWaiter waiter(count);
    EXPECT_TRUE(waiter.announce());
    EXPECT_FALSE(waiter.announce());
    notify_waiters(count);
    EXPECT_EQ(count.events, 1u);
    waiter.withdraw();
    notify_waiters(count);
    EXPECT_EQ(count.events, 1u);
    notify(count);
    EXPECT_EQ(count.events, 2u);
}

TEST(EventCount, AWaiterThatIsGoneHasWithdrawn) {
    EventCount count{};
    {
        EventWaiter(count).announce();
    }
    EXPECT_EQ(count.waiters, 0u);
}

TEST(EventCount, AnEventBeforeTheSleepEndsIt) {
    EventCount count{};
    std::uint32_t const seen = count.events;
    notify(count);
    double const begin = now();
    wait_for_event(count, seen, long_sleep);
    EXPECT_LT(now() - begin, too_long);
}

/// What a peer stored while the waiter announced itself may have been missed.
TEST(EventCount, WithoutABarrierTheSleepIsShort) {
    EventCount count{};
    EventWaiter waiter(count);
    waiter.announce();
    double const begin = now();
    waiter.sleep(0, long_sleep);
    EXPECT_LT(now() - begin, too_long);
    EXPECT_EQ(count.waiters, 0u);
}

/// An end that somebody else reads or writes.
struct Pipe {
    Pipe() { EXPECT_EQ(pipe(ends), 0); }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    int ends[2]{};
};

TEST(WakeSocket, ANotificationEndsTheSleep) {
    EventCount count{};
    WakeSocket socket(count);
    ASSERT_TRUE(socket.is_open());
    Pipe const pipe;
    std::uint32_t const seen = count.events;
    std::thread other([&] {
        while (count.pollers == 0) sched_yield();
        notify(count);
    });
    double const begin = now();
    socket.sleep(pipe.ends[0], seen, long_sleep);
    EXPECT_LT(now() - begin, too_long);
    other.join();
    EXPECT_EQ(count.pollers, 0u);
}

/// As peers notify, who only do it where somebody announced itself.
TEST(WakeSocket, ANotificationOfAnotherProcessEndsTheSleep) {
    void* const memory = mmap(nullptr, sizeof(EventCount), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& count = *static_cast<EventCount*>(memory);
    WakeSocket socket(count);
    Pipe const pipe;
    std::uint32_t const seen = count.events;
    pid_t const child = fork();
    if (child == 0) {
        while (count.pollers == 0) sched_yield();
        notify_waiters(count);
        _exit(0);
    }
    EventWaiter waiter(count);
    waiter.announce(true);
    double const begin = now();
    waiter.sleep(socket, pipe.ends[0], seen, long_sleep);
    EXPECT_LT(now() - begin, too_long);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    munmap(memory, sizeof(EventCount));
}

TEST(WakeSocket, ADescriptorThatIsReadableEndsTheSleep) {
    EventCount count{};
    WakeSocket socket(count);
    Pipe const pipe;
    std::thread other([&] {
        while (count.pollers == 0) sched_yield();
        EXPECT_EQ(write(pipe.ends[1], "x", 1), 1);
    });
    double const begin = now();
    socket.sleep(pipe.ends[0], count.events, long_sleep);
    EXPECT_LT(now() - begin, too_long);
    other.join();
}

TEST(WakeSocket, AnEventBeforeTheSleepEndsIt) {
    EventCount count{};
    WakeSocket socket(count);
    Pipe const pipe;
    std::uint32_t const seen = count.events;
    notify(count);
    double const begin = now();
    socket.sleep(pipe.ends[0], seen, long_sleep);
    EXPECT_LT(now() - begin, too_long);
}

}  // namespace
}  // namespace sluice::event_count_test
