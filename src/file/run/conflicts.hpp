// The Conflicts of an ordered operation are the earlier operations of the queue that may touch a
// byte of it, where one of the two writes. First their spans are compared, then, where these meet,
// blocks that all ranks marked (file/plan/overlap.hpp).
#pragma once
#include "file/run/queue_state.hpp"

namespace sluice {

class Conflicts {
public:
    explicit Conflicts(QueueState& queue) noexcept : queue_(queue) {}

    /// Whether some earlier operation that may be under way on some rank has a span with bytes of
    /// this one's. Known alike on all ranks, whichever of the operations are complete on them
    /// already. Notes this operation for those that follow.
    [[nodiscard]] bool find(Recent const& own);

    /// Of this rank: the blocks that the request touches, and those that the earlier ones do. A
    /// read beyond the end of the file depends on all of them.
    [[nodiscard]] Overlap marks(Request const& request, bool reads_beyond_end) const;

    /// The blocks of all ranks do not meet: nothing need be waited for.
    void clear() noexcept { last_ = -1; }
    /// The oldest operation that is not complete is one that must be.
    [[nodiscard]] bool must_wait_for(std::int64_t oldest) const noexcept {
        return oldest >= 0 && oldest <= last_;
    }

private:
    /// This operation or the earlier one does: two that read need no order.
    [[nodiscard]] bool one_writes(Recent const& earlier) const noexcept {
        return writes_ || earlier.writes;
    }

    QueueState& queue_;
    bool writes_ = false;     ///< This operation.
    std::int64_t last_ = -1;  ///< The last earlier operation that must be complete; -1: none.
    Span stretch_;            ///< Where the spans of this and of earlier operations have bytes.
};

}  // namespace sluice
