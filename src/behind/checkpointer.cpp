// The thread sleeps without an end while the journal is empty. See checkpointer.hpp.
#include "behind/checkpointer.hpp"

#include "system/library_thread.hpp"

namespace sluice {

Checkpointer::Checkpointer(std::shared_ptr<Journal> journal, std::function<void()> checkpoint,
                           std::chrono::milliseconds interval)
    : journal_(std::move(journal)),
      checkpoint_(std::move(checkpoint)),
      interval_(interval) {}

Checkpointer::~Checkpointer() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Checkpointer::wake() {
    std::lock_guard const lock(mutex_);
    if (!thread_.joinable()) thread_ = library_thread_if_any("sluice-journal", [this] { work(); });
    wake_.notify_all();
}

void Checkpointer::ask() {
    {
        std::lock_guard const lock(mutex_);
        asked_ = true;
    }
    wake();
}

bool Checkpointer::is_pressed() const {
    return journal_->used() > journal_->bytes() / 2 && journal_->is_due();
}

void Checkpointer::work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        bool const rests = journal_->is_empty() || journal_->has_given_up();
        auto const has_work = [&] { return stopping_ || asked_ || (!rests && is_pressed()); };
        if (rests)
            wake_.wait(lock);
        else
            wake_.wait_for(lock, interval_, has_work);
        asked_ = false;
        if (stopping_) break;
        lock.unlock();
        journal_->note_active();
        if (journal_->is_due()) checkpoint_();
        lock.lock();
    }
}

}  // namespace sluice
