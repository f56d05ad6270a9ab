// How signals are blocked, and names and cores are set. See library_thread.hpp.
#include "system/library_thread.hpp"

#include "system/page_bytes.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace sluice {
namespace {

struct SharedCores {
    std::mutex mutex;
    Cores cores;
};
SharedCores& shared_cores() {
    static auto* const only = new SharedCores;  // Threads may outlive main().
    return *only;
}

cpu_set_t* as_system(Cores::Words& words) noexcept {
    return reinterpret_cast<cpu_set_t*>(words.data());
}

Cores cores_of(pid_t thread) noexcept {
    Cores cores;
    auto& words = cores.words();
    if (sched_getaffinity(thread, sizeof words, as_system(words)) != 0) return {};
    return cores;
}

Cores cores_now() {
    std::lock_guard const lock(shared_cores().mutex);
    return shared_cores().cores;
}

void run_on(Cores cores) noexcept {
    auto& words = cores.words();
    if (!cores.empty() && cores != thread_cores()) {
        sched_setaffinity(0, sizeof words, as_system(words));
    }
}

/// Signals are the application's. A thread that is started meanwhile inherits that it has none.
class NoSignals {
public:
    NoSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(NoSignals const&) = delete;
    NoSignals& operator=(NoSignals const&) = delete;

private:
    sigset_t before_{};
};

/// A program that has all of its memory locked gets each stack as memory at once, some MiB. What
/// lies below is not used yet: it is given back, and comes when it is touched.
void give_back_stack() noexcept {
    constexpr std::uintptr_t kept = 64 * 1024;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
    auto const page = static_cast<std::uintptr_t>(page_bytes());
    auto const begin = reinterpret_cast<std::uintptr_t>(lowest);
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    auto const end = (here - kept) / page * page;
    if (here <= begin + kept || here > begin + bytes || end <= begin) return;
    munlock(lowest, end - begin);
    madvise(lowest, end - begin, MADV_DONTNEED);
}

std::thread start(char const* name, Cores const& cores, std::function<void()> work) {
    NoSignals const meanwhile;
    return std::thread([name, cores, work = std::move(work)] {
        pthread_setname_np(pthread_self(), name);
        give_back_stack();
        run_on(cores);
        work();
    });
}

}  // namespace

void set_quiet_cores(Cores const& cores) {
    std::lock_guard const lock(shared_cores().mutex);
    shared_cores().cores = cores;
}

std::thread library_thread(char const* name, std::function<void()> work) {
    return start(name, cores_now(), std::move(work));
}

std::thread library_thread_if_any(char const* name, std::function<void()> work) {
    try {
        return library_thread(name, std::move(work));
    } catch (std::system_error const&) {
        return {};
    }
}

double processor_seconds(std::thread& thread) noexcept {
    clockid_t clock{};
    timespec used{};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return 0;
    if (clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

Cores process_cores() noexcept { return cores_of(getpid()); }
Cores thread_cores() noexcept { return cores_of(0); }
int thread_core_count() noexcept { return std::max(1, thread_cores().count()); }

Cores online_cores() {
    std::string line;
    std::getline(std::ifstream("/sys/devices/system/cpu/online"), line);
    return parse_cores(line).value_or(Cores{});
}

Cores granted_cores(Cores const& asked) {
    Cores granted;
    start("sluice-trial", asked, [&granted] { granted = thread_cores(); }).join();
    return granted;
}

}  // namespace sluice
