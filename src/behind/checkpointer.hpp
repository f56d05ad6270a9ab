// A Checkpointer is the thread that makes checkpoints of a durable journal: soon after bytes have
// reached their file, at once where somebody waits or the journal is half full. While the journal
// holds records, it also notes that the rank may change files.
#pragma once
#include "behind/journal.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace sluice {

class Checkpointer {
public:
    /// `checkpoint` makes one; called by the thread. It starts with the first wake(). `interval`:
    /// how long other ranks may have to wait for bytes that are in the file, and how many writes
    /// share one flush of the file.
    Checkpointer(std::shared_ptr<Journal> journal, std::function<void()> checkpoint,
                 std::chrono::milliseconds interval = std::chrono::milliseconds(100));
    ~Checkpointer();
    Checkpointer(Checkpointer const&) = delete;
    Checkpointer& operator=(Checkpointer const&) = delete;

    /// Something was put into the journal. Returns at once.
    void wake();
    /// A checkpoint at once. Returns at once.
    void ask();

private:
    void work();
    [[nodiscard]] bool is_pressed() const;

    std::shared_ptr<Journal> const journal_;
    std::function<void()> const checkpoint_;
    std::chrono::milliseconds const interval_;
    std::mutex mutex_;  ///< Guards the fields below.
    std::condition_variable wake_;
    bool asked_ = false, stopping_ = false;
    std::thread thread_;
};

}  // namespace sluice
