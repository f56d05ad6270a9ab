// A DividedTransfer is a transfer whose pieces lie apart in the file, so that it needs several
// requests: storage threads that are idle make them at the same time.
#pragma once
#include "storage/batch.hpp"
#include "storage/worker_pool.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace sluice {

/// Shared by the threads that work on it, and may outlive the transfer and its file: a thread that
/// comes when all is done finds nothing to do.
class DividedTransfer : public std::enable_shared_from_this<DividedTransfer> {
public:
    /// `finish` is called once, by the thread that ends last, after all results of the transfer but
    /// `done` are set.
    DividedTransfer(Transfer& transfer, Route const& route, WorkerPool& pool,
                    std::function<void()> finish);

    /// Makes requests until none is left. Called by a storage thread.
    void work();

private:
    class Part;
    bool take(Batch& batch);
    void give_back(Part const& part);
    void invite();

    Route const route_;
    WorkerPool& pool_;
    Direction const direction_;
    std::int64_t const operation_;
    std::mutex mutex_;  ///< Guards the rest.
    Transfer& transfer_;
    Segments segments_;
    std::function<void()> finish_;
    int at_work_ = 0;  ///< Threads that have a batch.
    bool invited_ = false;
    bool ended_ = false;  ///< The transfer and the file may be gone.
};

}  // namespace sluice
