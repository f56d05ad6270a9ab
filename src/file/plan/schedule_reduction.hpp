// This pure function makes the schedule of a reduction of a record of fixed size over all ranks of
// a communicator: the exchange of summaries, the weights and the agreement.
#pragma once
#include "schedule/schedule.hpp"

namespace sluice {

/// Reduces one record of each rank to one of all, on every rank: over the node's board, then along
/// a binomial tree of node leaders. `operation` is the operation queue's number of the operation.
/// For Channel::summary_exchange, Channel::weights and Channel::agreement.
[[nodiscard]] Schedule make_reduction(Topology const& topology, Rank self, Channel channel,
                                      std::int64_t operation);

}  // namespace sluice
