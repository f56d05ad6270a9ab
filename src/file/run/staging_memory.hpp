// A StagingMemory gives the region of an operation queue memory when it is needed: counters and
// claims for the aggregators of an operation, and collective buffers for its rounds.
#pragma once
#include "file/run/execution_context.hpp"

namespace sluice {

class StagingMemory {
public:
    /// What the operating system does with a range of the region.
    struct System {
        std::function<bool(Span const& range)> reserve;  ///< False: it has no memory.
        std::function<void(Span const& range)> open;     ///< Some rank has reserved the range.
    };

    /// `staged`: bytes that the collective buffers of the communicator have on this node, in all
    /// operation queues; `limit`: how many they may have (SLUICE_MEMORY).
    StagingMemory(SharedRegion const& region, std::atomic<Bytes>& staged, Bytes limit,
                  System system);

    /// The context's operations ask this from now on.
    void serve(ExecutionContext& context);

private:
    enum class Limit : std::uint8_t { kept, exceeded };
    Staging reserve(StagingWish const& wish);
    bool back(std::int32_t cb_buffer, Bytes window_bytes, Limit limit);
    bool back_aggregators(StagingWish const& wish);
    [[nodiscard]] Staging back_cb_buffers(StagingWish const& wish);
    void open(std::int32_t cb_buffer, Bytes window_bytes);

    SharedRegion region_;
    std::atomic<Bytes>& staged_;
    Bytes limit_;
    System system_;
    // On the node's leader: the last wish, and what was granted.
    StagingWish wish_;
    Staging granted_;
    /// Aggregators whose counters and claims have memory, by board.
    std::array<std::int32_t, board_count> backed_aggregators_{};
    std::vector<Bytes> open_bytes_;  ///< How far this rank may touch each collective buffer.
};

}  // namespace sluice
