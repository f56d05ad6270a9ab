// What the ops of one operation refer to: the executor looks roles of memory up here.
#pragma once
#include "core/plan_cache.hpp"
#include "ports/port.hpp"
#include "run/movement.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice {

/// Transfers that wait for the thread of a blocking call. Any thread may put and take.
class HandOver {
public:
    void put(Transfer* transfer) {
        std::lock_guard const lock(mutex_);
        waiting_.push_back(transfer);
        any_ = true;
    }
    Transfer* take() {
        if (!any_.load(std::memory_order_acquire)) return nullptr;
        std::lock_guard const lock(mutex_);
        if (waiting_.empty()) return nullptr;
        Transfer* const first = waiting_.front();
        waiting_.erase(waiting_.begin());
        any_ = !waiting_.empty();
        return first;
    }

private:
    std::mutex mutex_;
    std::vector<Transfer*> waiting_;  ///< A few: one for each slot at most.
    std::atomic<bool> any_{false};
};

struct ExchangeState {
    std::int64_t operation = 0;  ///< Number in the stream.
    Request request;
    bool direct = false;  ///< It goes straight between user memory and the file.
    std::byte* user = nullptr;
    Summary records[2];  ///< Memory::record: own, and one that came from another node.
    Plan plan;
    std::shared_ptr<Claims> claims;         ///< Of others once the claims are exchanged.
    std::vector<std::int64_t> first_cycle;  ///< In the stream, by aggregator.
    std::map<std::pair<std::int32_t, std::int64_t>, MessageBuffer> messages;  ///< By slot.
    std::map<std::pair<std::int64_t, Node>, MessageBuffer> wants;  ///< By cycle and node.
    Status status = Status::ok;     ///< What this rank met; stops its storage ops.
    Offset end_of_file = endless;   ///< Where this rank's reads found the file to end.
    bool caller_transfers = false;  ///< A blocking call: its thread serves the file itself.
    HandOver for_caller;
    Bytes direct_bytes = 0;             ///< Transferred straight from or to user memory.
    std::int64_t arrivals_before[2]{};  ///< Earlier uses of the boards: survey, agreement.
    std::int64_t claims_before = 0;

    [[nodiscard]] Span window(Op const& op) const noexcept {
        auto const a = static_cast<std::size_t>(op.aggregator);
        return plan.window(op.aggregator, op.cycle - first_cycle[a]);
    }
    [[nodiscard]] MessageBuffer& message(Op const& op) {
        return messages[{op.aggregator, op.cycle % slots_per_aggregator}];
    }
    /// What goes through slots.
    [[nodiscard]] Request const& exchanged() const {
        return direct ? nothing(request.direction) : request;
    }
    void fail(Status what) noexcept { status = agreed(status, what); }
};

}  // namespace sluice
