// The reductions of an operation, and what goes on with those that only some operations need: the
// weights of domains, and whether earlier operations must be complete first. See operation.hpp.
#include "file/plan/schedule_reduction.hpp"
#include "file/run/operation.hpp"

namespace sluice {
namespace {

std::size_t index(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace

/// Boards are used in turn; counters of a board go on from its earlier uses, which are counted.
void Operation::use_board(BoardUse use) {
    auto& uses = queue_.board_uses[use][index(state_.operation % board_count)];
    state_.board_uses_before[use] = uses++;
}

void Operation::admit_reduction(Channel channel) {
    use_board(boards_of(channel));
    control_left_ = 1;
    executor_.admit(make_reduction(*execution_context_.topology, execution_context_.self, channel,
                                   state_.operation),
                    id_control);
}

/// From the records of the node's ranks, which are still on the board.
void Operation::divide_by_groups() {
    std::vector<Summary> records;
    for (Rank local = 0; local < execution_context_.local_count(); ++local) {
        records.push_back(
            execution_context_.window.record(Channel::summary_exchange, state_.operation, local));
    }
    sluice::divide_by_groups(state_.plan, summary_exchange_, *execution_context_.topology,
                             execution_context_.node(), records, decision_.way.aggregators,
                             execution_context_.limits.key.get());
}

/// Where in the span the bytes are, which the exchange of summaries does not tell.
void Operation::start_weights() {
    enter(Stage::weights);
    auto const board = index(state_.operation % board_count);
    state_.weights = std::make_unique<WeightsReduction>();
    state_.weights->record = weigh(state_.exchanged(), summary_exchange_.span);
    if (!queue_.weighed.empty()) state_.weights->sums_before = queue_.weighed[board];
    admit_reduction(Channel::weights);
}

void Operation::end_weights() {
    queue_.weighed.resize(index(board_count));
    queue_.weighed[index(state_.operation % board_count)] = state_.weights->sums;
    weights_ = std::make_shared<Weights const>(state_.weights->result());
    decision_ = decide(summary_exchange_, *execution_context_.topology, execution_context_.limits,
                       weights_.get());
    state_.weights.reset();
    start_decided();
}

/// A part that goes straight to the file may start before the other ranks are heard of, unless one
/// of them may have touched its bytes in an operation that is not complete.
bool Operation::may_start_independent(Ahead const& ahead) const noexcept {
    return state_.independent && !independent_done_ && (!call_.ordered || ahead.oldest < 0);
}

/// Whether some earlier operation that may be under way on some rank has a span with bytes of this
/// one's, where one of the two writes. Known alike on all ranks, whichever of the operations are
/// complete on them already. Notes this operation for those that follow.
bool Operation::meets_earlier() {
    Span const reach = summary_exchange_.reach;
    bool const writes = state_.request.direction == Direction::write;
    std::erase_if(queue_.recent, [&](Recent const& earlier) {
        return earlier.number <= number() - operations_under_way;
    });
    for (Recent const& earlier : queue_.recent) {
        bool const conflicts = writes || earlier.request.direction == Direction::write;
        if (!conflicts || clip(reach, earlier.reach).empty()) continue;
        overlap_stretch_ = join(overlap_stretch_, clip(reach, earlier.reach));
        waits_for_ = earlier.number;
    }
    queue_.recent.push_back({number(), reach, state_.request});
    return waits_for_ >= 0;
}

/// Spans say too little: pieces of two operations may lie between each other's.
void Operation::start_overlap() {
    enter(Stage::overlap);
    state_.overlap = std::make_unique<OverlapReduction>();
    Overlap& own = state_.overlap->record;
    if (call_.reads_beyond_end)
        own.current.mark_all();
    else
        own.current.mark(state_.request, overlap_stretch_);
    bool const writes = state_.request.direction == Direction::write;
    for (Recent const& earlier : queue_.recent) {
        bool const conflicts = writes || earlier.request.direction == Direction::write;
        if (conflicts && earlier.number <= waits_for_)
            own.earlier.mark(earlier.request, overlap_stretch_);
    }
    admit_reduction(Channel::overlap);
}

bool Operation::must_wait_for_earlier(Ahead const& ahead) {
    if (state_.overlap && !state_.overlap->record.found()) waits_for_ = -1;
    state_.overlap.reset();
    return ahead.oldest >= 0 && ahead.oldest <= waits_for_;
}

}  // namespace sluice
