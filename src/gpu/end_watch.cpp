// See end_watch.hpp.
#include "gpu/end_watch.hpp"

#include "system/library_thread.hpp"

namespace sluice {

void EndWatch::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
        wake_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void EndWatch::start() {
    if (!thread_.joinable()) thread_ = library_thread_if_any("sluice-gpu", [this] { watch(); });
}

void EndWatch::take(Works& entry) {
    if (!thread_.joinable()) return entry.front()->await();
    std::lock_guard const lock(mutex_);
    under_way_.splice(under_way_.end(), entry);
    wake_.notify_one();
}

bool EndWatch::is_idle() {
    std::lock_guard const lock(mutex_);
    return under_way_.empty();
}

void EndWatch::watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !under_way_.empty(); });
        if (under_way_.empty()) return;
        auto const first = under_way_.begin();  // It stays there, as others may look for the idle.
        lock.unlock();
        (*first)->await();
        lock.lock();
        Works ended;
        ended.splice(ended.begin(), under_way_, first);
        lock.unlock();
        ended.clear();
        ring_();
        lock.lock();
    }
}

}  // namespace sluice
