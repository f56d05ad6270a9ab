// Threads of the library's own: name, signals, cores and processor time.
#include "system/library_thread.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>
#include <future>
#include <pthread.h>
#include <string>

namespace sluice::library_thread_test {
namespace {

/// The cores are the process's; tests leave them as they were.
struct LibraryThread : ::testing::Test {
    ~LibraryThread() override { set_quiet_cores({}); }

    /// One core that is granted where others are as well.
    static Cores one_core() {
        Cores const all = process_cores();
        Cores one;
        for (int core = 0; core < Cores::most && one.empty(); ++core) {
            if (all.contains(core)) one.add(core);
        }
        return one;
    }
};

TEST_F(LibraryThread, HasANameAndTakesNoSignals) {
    std::string name(16, 0);
    bool blocked = false;
    library_thread("sluice-test", [&] {
        pthread_getname_np(pthread_self(), name.data(), name.size());
        sigset_t now;
        pthread_sigmask(SIG_SETMASK, nullptr, &now);
        blocked = sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGUSR1) == 1;
    }).join();
    EXPECT_STREQ(name.c_str(), "sluice-test");
    EXPECT_TRUE(blocked);
    sigset_t own;
    pthread_sigmask(SIG_SETMASK, nullptr, &own);
    EXPECT_EQ(sigismember(&own, SIGUSR1), 0) << "this thread's are as they were";
}

TEST_F(LibraryThread, RunsOnTheCoresThatWereSet) {
    if (process_cores().empty()) GTEST_SKIP() << "the system does not say";
    Cores const wanted = one_core();
    Cores found;
    set_quiet_cores(wanted);
    library_thread("sluice-test", [&found] { found = thread_cores(); }).join();
    EXPECT_EQ(found, wanted);
    set_quiet_cores({});
    library_thread("sluice-test", [&found] { found = thread_cores(); }).join();
    EXPECT_EQ(found, thread_cores()) << "those of the thread that starts it";
}

TEST_F(LibraryThread, CoresThatAreNotThereChangeNothing) {
    Cores nowhere;
    nowhere.add(Cores::most - 1);
    if (online_cores().contains(Cores::most - 1)) GTEST_SKIP() << "a machine of so many";
    EXPECT_EQ(granted_cores(nowhere), thread_cores());
}

/// The calling thread computes until the system has counted so much more processor time for it.
void compute(double seconds) {
    auto const counted = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    double const end = counted() + seconds;
    while (counted() < end) continue;
}

TEST_F(LibraryThread, ItsProcessorTimeIsCounted) {
    std::promise<void> computed;
    std::promise<void> asked;
    auto thread = library_thread("sluice-test", [&] {
        compute(0.02);
        computed.set_value();
        asked.get_future().wait();  // It takes no processor time from here on.
    });
    computed.get_future().wait();
    double const own = processor_seconds(thread);
    compute(0.2);  // Another thread's time is not that thread's.
    double const later = processor_seconds(thread);
    asked.set_value();
    thread.join();
    EXPECT_GE(own, 0.02);
    EXPECT_LT(own, 10) << "seconds, not a smaller unit";
    EXPECT_LT(later - own, 0.1);
}

}  // namespace
}  // namespace sluice::library_thread_test
