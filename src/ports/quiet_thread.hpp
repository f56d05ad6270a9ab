// Threads of the library's own inside of somebody else's process.
#pragma once
#include <csignal>
#include <thread>
#include <utility>

namespace sluice {

/// A thread that takes no signals: they are the application's.
template <typename Work> std::thread quiet_thread(Work&& work) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // The thread inherits it.
    std::thread thread(std::forward<Work>(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace sluice
