// ExchangeState holds what the ops of one operation refer to: the request, the plan, the claims,
// the messages under way and the first error of this rank.
#pragma once
#include "file/plan/plan_cache.hpp"
#include "file/plan/round_order.hpp"
#include "file/run/movement.hpp"
#include "file/run/operation_trace.hpp"
#include "file/run/records.hpp"
#include "file/run/tally.hpp"
#include "schedule/port.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice {

/// What the boards of a node are used for; those of reductions come first.
enum BoardUse : std::size_t {
    boards_of_summaries,
    boards_of_agreement,
    boards_of_weights,
    boards_of_overlap,
    boards_of_claims,
    board_use_count
};
constexpr BoardUse boards_of(Channel channel) noexcept {
    return channel == Channel::agreement ? boards_of_agreement
           : channel == Channel::weights ? boards_of_weights
           : channel == Channel::overlap ? boards_of_overlap
           : channel == Channel::claims  ? boards_of_claims
                                         : boards_of_summaries;
}

/// Ops of reductions have memory of their own.
[[nodiscard]] constexpr bool is_of_reduction(Op const& op) noexcept {
    return op.channel == Channel::summary_exchange || op.channel == Channel::agreement ||
           op.channel == Channel::weights || op.channel == Channel::overlap;
}

/// Transfers that wait for the thread of a blocking call. Any thread may put and take.
class TransferQueue {
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
    std::vector<Transfer*> waiting_;  ///< A few: one for each collective buffer at most.
    std::atomic<bool> any_{false};
};

/// Tells the messages apart that a rank has under way in one operation.
struct MessageKey {
    bool claims = false;
    std::int32_t aggregator = 0;
    std::int64_t round = 0;
    Rank peer = -1;

    explicit MessageKey(Op const& op) noexcept
        : claims(op.channel == Channel::claims),
          aggregator(op.aggregator),
          round(op.round),
          peer(op.peer) {}
    auto operator<=>(MessageKey const&) const = default;
};

/// Buffers of messages, from the op that fills them to the one that needs them last.
class Messages {
public:
    ByteBuffer& operator[](MessageKey const& key) {
        auto const [place, added] = all_.try_emplace(key);
        if (added && !spare_.empty()) {
            place->second = std::move(spare_.back());
            spare_.pop_back();
        }
        return place->second;
    }
    /// The memory is used again, while it was not much.
    void drop(MessageKey const& key) {
        auto node = all_.extract(key);
        if (!node.empty() && spare_.size() < 2 * cb_buffers_per_aggregator) {
            spare_.push_back(std::move(node.mapped()));
        }
    }
    ByteBuffer take(MessageKey const& key) { return std::move(all_.extract(key).mapped()); }

private:
    std::map<MessageKey, ByteBuffer> all_;
    std::vector<ByteBuffer> spare_;
};

struct ExchangeState {
    std::int64_t operation = 0;  ///< Number in the operation queue.
    Request request;
    bool independent = false;  ///< It goes straight between user memory and the file.
    UserMemory user;
    SummaryReduction summaries;  ///< Of the exchange of summaries, later of the agreement.
    std::unique_ptr<WeightsReduction> weights;  ///< In the stage of weights.
    std::unique_ptr<OverlapReduction> overlap;  ///< In the stage of overlap.
    Plan plan;
    std::shared_ptr<Claims> claims;  ///< Of others once the claims are exchanged.
    // In the operation queue, by aggregator: on this node, and as all nodes count them.
    std::vector<std::int64_t> first_round, first_shared_round;
    RoundOrder* order = nullptr;  ///< Of the operation queue.
    Messages messages;
    ClaimMessages claims_received;  ///< Until all are there.
    std::map<MessageKey, ByteBuffer> wants;
    std::map<MessageKey, Packed> placing;  ///< Messages with parts, while they are sent.
    std::map<MessageKey, Bytes> placed;    ///< Parts of messages that came, until it is unpacked.
    Counter collected{}, taken{}, answered{};  ///< Only this rank looks at them.
    Status status = Status::ok;  ///< What this rank met. Most errors stop its transfers.
    /// Of a write whose call may have returned on some rank: what else went wrong is no reason to
    /// leave bytes out of the file.
    bool writes_on = false;
    /// A message did not come as it should: collective buffers may hold what nobody wrote.
    bool is_torn = false;
    Error error;                   ///< The first that it met, if it met any itself.
    std::function<void()> report;  ///< Tells of `error`, once; null: nobody asks.
    Offset end_of_file = endless;  ///< Where this rank's reads found the file to end.
    /// A thread waits in a call for this operation and serves the file itself.
    std::atomic<bool> caller_transfers{false};
    /// A storage thread was given a transfer.
    std::atomic<bool> storage_transfers{false};
    TransferQueue for_caller;
    Tally tally;
    OperationTrace trace;
    Busy transfers, messages_under_way;
    Bytes independent_bytes = 0;  ///< Transferred straight from or to user memory.
    std::int64_t board_uses_before[board_use_count]{};  ///< Of the boards that it uses.

    [[nodiscard]] Window window(Op const& op) const noexcept {
        auto const a = static_cast<std::size_t>(op.aggregator);
        return plan.window(op.aggregator, op.round - first_round[a]);
    }
    /// The number of the op's round by which nodes know it.
    [[nodiscard]] std::int64_t shared_round(Op const& op) const noexcept {
        auto const a = static_cast<std::size_t>(op.aggregator);
        return op.round - first_round[a] + first_shared_round[a];
    }
    /// Calls `act` with the records of the op's reduction.
    template <class Act> auto with_records(Op const& op, Act&& act) {
        if (op.channel == Channel::weights) return act(*weights);
        if (op.channel == Channel::overlap) return act(*overlap);
        return act(summaries);
    }
    /// By which both ends of a message know it.
    [[nodiscard]] std::int64_t message_number(Op const& op) const noexcept {
        return is_of_round(op.channel) ? shared_round(op) : op.operation;
    }
    /// What goes through collective buffers.
    [[nodiscard]] Request const& exchanged() const {
        return independent ? nothing(request.direction) : request;
    }
    /// Whether a transfer is made, after whatever went wrong.
    [[nodiscard]] bool may_transfer(Op const& op) const noexcept {
        bool const own = op.kind == OpKind::write && op.source == Memory::user;
        return status == Status::ok || (writes_on && (own || !is_torn));
    }
    /// Something of the exchange failed.
    void fail(Error const& what) {
        is_torn |= what.status != Status::ok;
        note(what);
    }
    /// The same of anything else, as of a transfer.
    void note(Error const& what) {
        bool const first = what && !error;
        status = agreed(status, what.status);
        error = first_of(error, what);
        if (first && report) report();
    }
};

}  // namespace sluice
