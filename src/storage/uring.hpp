// A Uring transfers bytes by io_uring: several requests of a transfer are under way at once, and
// one thread waits for all of them. The threads of storage/posix.hpp still open files and serve
// transfers under a lock.
#pragma once
#include "storage/batch.hpp"

#include <functional>
#include <memory>

namespace sluice {

/// One ring of the process, with its thread. The kernel cancels the requests of a thread that ends,
/// so only the ring's own thread submits them, never the caller's.
class Uring {
public:
    /// Whether this build has liburing and the system grants a ring now.
    [[nodiscard]] static bool available();
    /// `workers`: threads of the kernel that may wait for the device at once. Null where io_uring
    /// is not available.
    [[nodiscard]] static std::unique_ptr<Uring> make(int workers);
    /// Waits for all transfers.
    ~Uring();
    Uring(Uring const&) = delete;
    Uring& operator=(Uring const&) = delete;

    /// Returns at once. What the route names stays until `finished` is called, by the ring's
    /// thread, after all results of the transfer but `done` are set. Thread-safe.
    void start(Route const& route, Transfer& transfer, std::function<void()> finished);
    /// Of the ring's thread so far; the kernel's own are not counted.
    [[nodiscard]] double processor_seconds() noexcept;

private:
    class Loop;
    explicit Uring(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace sluice
