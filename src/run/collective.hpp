// One collective between memories that is under way: a schedule, shared with all calls of equal
// sizes, and the memory that this call binds to its roles.
#pragma once
#include "core/collectives/algorithms.hpp"
#include "core/collectives/blocks.hpp"
#include "core/collectives/reduction.hpp"
#include "core/status.hpp"

#include <atomic>

namespace sluice {

/// What a call brings beside its sizes.
struct CollectiveBuffers {
    Blocks input, output;
    Reduction const* reduction = nullptr;  ///< Of kinds that reduce; lives as long as the call,
    std::shared_ptr<Reduction const> own;  ///< or is this one.
};

/// The result of a call, shared by who made it and who moves it on.
class CollectiveState {
public:
    [[nodiscard]] bool complete() const noexcept {
        return complete_.load(std::memory_order_acquire);
    }
    /// Once it is complete. Each rank has its own: MPI's collectives agree on nothing.
    [[nodiscard]] Status status() const noexcept { return status_; }

private:
    friend class Collectives;
    std::atomic<bool> complete_{false};
    Status status_ = Status::ok;
};

}  // namespace sluice
