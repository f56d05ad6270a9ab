// A Placement says which ranks are aggregators where a user chooses them: by hosts, as ROMIO's
// cb_config_list does, or rank by rank. It is read when a file is opened. Without one
// base/topology.hpp spreads the aggregators over the nodes. file/plan/placement.hpp finds the ranks
// of hosts.
#pragma once
#include "base/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// How many ranks of a host may be aggregators.
struct HostShare {
    static constexpr Rank all = 1 << 30;

    std::string host;  ///< `*`: each host that is not named.
    Rank ranks = 1;
    bool operator==(HostShare const&) const = default;
};

/// In the order in which hosts are to be used; empty: as the library does it.
struct Placement {
    std::vector<HostShare> hosts;
    std::vector<Rank> ranks;  ///< Said rank by rank: goes before hosts.
    [[nodiscard]] bool empty() const noexcept { return hosts.empty() && ranks.empty(); }
    bool operator==(Placement const&) const = default;
};

/// `host`, `host:n` and `host:*`, with commas between; `*` for any other host. Nothing where it is
/// not understood. `*:*` is empty: what the library does by itself.
[[nodiscard]] std::optional<std::vector<HostShare>> parse_hosts(std::string const& text);
[[nodiscard]] std::string describe(std::vector<HostShare> const& hosts);

/// `auto`, or numbers with commas between, each only once.
[[nodiscard]] std::optional<std::vector<Rank>> parse_ranks(std::string const& text);
[[nodiscard]] std::string describe(std::vector<Rank> const& ranks);

}  // namespace sluice
