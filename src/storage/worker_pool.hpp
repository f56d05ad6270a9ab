// A WorkerPool has a few threads that wait for the device, so that no other thread has to.
#pragma once
#include "schedule/port.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace sluice {

/// Want of memory is an error of the transfer: its thread has nobody else to tell.
template <class Work> void run_transfer(Transfer& transfer, Work&& work) {
    try {
        work();
    } catch (std::bad_alloc const&) {
        transfer.fail({.status = Status::no_memory});
    }
}

/// Threads that run tasks in order. They start with the first task and block all signals. With no
/// threads, or where the system has none, submit() runs the task itself.
class WorkerPool {
public:
    explicit WorkerPool(int thread_count) noexcept : thread_count_(thread_count) {}
    ~WorkerPool();
    void submit(std::function<void()> task);
    /// As submit(), but only where a thread is idle, or can be started; false where none is. Called
    /// by a thread of the pool.
    bool offer(std::function<void()> task);
    /// Of all its threads so far.
    [[nodiscard]] double processor_seconds();

private:
    bool queue(std::function<void()>& task, bool at_once);
    void work();

    int thread_count_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    int idle_ = 0;
    bool stopping_ = false;
};

}  // namespace sluice
