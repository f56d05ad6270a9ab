// Which providers of libfabric this machine has, and which of them is taken.
#pragma once
#include <string>
#include <vector>

namespace sluice {

/// A provider of libfabric and whether the library can work with it.
struct FabricOffer {
    std::string provider;
    std::string why_not;     ///< Empty: it can.
    bool is_tested = false;  ///< Others are only taken when a user asks for them.
};

struct FabricOffers {
    std::string library;  ///< Its path and version; or why there is none.
    std::vector<FabricOffer> all;

    /// The one that is taken where a user says `wanted`, or nothing in particular; null: none.
    [[nodiscard]] FabricOffer const* best(std::string const& wanted) const;
};

/// What the machine has. Asks libfabric once.
[[nodiscard]] FabricOffers const& fabric_offers();
/// For a process that has an MPI loaded privately: a function of its library, beside which
/// libfabric is looked for. Before anything else is asked.
void look_for_fabric_beside(void* function);
/// For tests: this file is opened, and nothing else is looked for. Before anything else is asked.
void open_as_fabric(std::string const& file);

}  // namespace sluice
