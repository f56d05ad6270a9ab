// These pure functions compute the order in which an aggregator takes the messages of an
// all-to-many exchange: the kernels that a Delivery names (settings/delivery.hpp).
#pragma once
#include "base/topology.hpp"
#include "settings/delivery.hpp"

#include <vector>

namespace sluice {

/// The place of a rank in the list 0, `stride`, 2 `stride` ..., 1, 1 + `stride` ... of all ranks.
[[nodiscard]] Rank strided_place(Rank rank, Rank ranks, std::int32_t stride) noexcept;

/// The step at which receiver number `index` of `count` takes the message of the rank at `place` of
/// a list of `ranks`: the paper's algorithm 2. For a fixed receiver a permutation of the places.
[[nodiscard]] std::int64_t balanced_step(Rank place, Rank ranks, std::int32_t index,
                                         std::int32_t count) noexcept;

/// The same where receivers begin at evenly spaced places. The paper gives the longer distances to
/// the first receivers: with more receivers than half of the ranks all others have distance 1, so
/// that each waits for the one behind it whenever that is late, and delays add up along them. Here
/// every longer distance ends such a row. With few receivers, or where they divide the ranks, both
/// are as good.
[[nodiscard]] std::int64_t even_step(Rank place, Rank ranks, std::int32_t index,
                                     std::int32_t count) noexcept;

/// The step at which aggregator `a` of `count` takes the message of `sender`. Messages are taken by
/// growing steps; no two senders have the same. With two layers senders are nodes, each named by
/// one of its ranks.
[[nodiscard]] std::int64_t delivery_step(Delivery delivery, Topology const& topology, Rank sender,
                                         std::int32_t a, std::int32_t count) noexcept;

/// Senders in the order in which aggregator `a` takes their messages.
void sort_by_delivery(std::vector<Rank>& senders, Delivery delivery, Topology const& topology,
                      std::int32_t a, std::int32_t count);

/// The aggregators 0 to `count` - 1 in the order in which `sender` serves them.
[[nodiscard]] std::vector<std::int32_t> send_order(Delivery delivery, Topology const& topology,
                                                   Rank sender, std::int32_t count);

}  // namespace sluice
