// A source is a rank that brings an aggregator bytes of another node. This pure function finds the
// sources in the messages with claims.
#pragma once
#include "file/plan/claims.hpp"

#include <map>

namespace sluice {

/// One rank of another node, or its node's local aggregator.
struct Source {
    Rank rank = 0;
    Claim claim;
};

/// Claims that came, by the rank that sent them.
using ClaimMessages = std::map<Rank, ByteBuffer>;

/// The sources of aggregator `a` that claim anything, in the order of delivery; nothing where a
/// message is damaged.
[[nodiscard]] std::optional<std::vector<Source>> sources_of(ClaimMessages const& messages,
                                                            Topology const& topology,
                                                            Plan const& plan, std::int32_t a);

}  // namespace sluice
