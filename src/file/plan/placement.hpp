// This pure function finds the aggregators where a user chooses them by hosts.
#pragma once
#include "settings/placement.hpp"

namespace sluice {

/// The ranks of these hosts: one host after the other, but hosts of a `*` in turn, one rank each.
/// `host_of[r]` is the name of rank r's host.
[[nodiscard]] std::vector<Rank> ranks_of(std::vector<HostShare> const& hosts,
                                         std::vector<std::string> const& host_of);

}  // namespace sluice
