// How tasks are handed to threads. See worker_pool.hpp.
#include "storage/worker_pool.hpp"

#include "system/library_thread.hpp"

namespace sluice {

WorkerPool::~WorkerPool() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void WorkerPool::submit(std::function<void()> task) {
    if (!queue(task, false)) task();
}

bool WorkerPool::offer(std::function<void()> task) { return queue(task, true); }

/// False where there is no thread to run it, or, `at_once`, none that has nothing else to do.
bool WorkerPool::queue(std::function<void()>& task, bool at_once) {
    std::lock_guard const lock(mutex_);
    bool all_busy = idle_ <= static_cast<int>(tasks_.size());
    if (all_busy && static_cast<int>(threads_.size()) < thread_count_) {
        threads_.reserve(threads_.size() + 1);
        auto thread = library_thread_if_any("sluice-storage", [this] { work(); });
        all_busy = !thread.joinable();
        if (!all_busy) threads_.push_back(std::move(thread));
    }
    if (threads_.empty() || (at_once && all_busy)) return false;
    tasks_.push_back(std::move(task));
    wake_.notify_one();
    return true;
}

double WorkerPool::processor_seconds() {
    std::lock_guard const lock(mutex_);
    double sum = 0;
    for (auto& thread : threads_) sum += sluice::processor_seconds(thread);
    return sum;
}

void WorkerPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        --idle_;
        if (tasks_.empty()) return;
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        lock.lock();
    }
}

}  // namespace sluice
