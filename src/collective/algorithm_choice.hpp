// This function chooses the algorithm of a collective: the cheapest by the machine's profile. It
// knows only what all ranks know, so all of them choose the same. Pure.
#pragma once
#include "base/machine.hpp"
#include "collective/algorithms.hpp"

namespace sluice {

/// The ranks of a communicator, as far as the price of messages depends on them.
struct CollectiveWorld {
    Rank ranks = 1;
    Node nodes = 1;
    Rank most_on_a_node = 1;
    std::int32_t cores_a_node = 1;
    MessageCosts within{3e-7, 1e-10};  ///< A node, by the library's own transport.
    MessageCosts between{2e-6, 2e-10};
    double copy_byte = 1e-10;
    double combine_byte = 1e-10;  ///< Of reductions.
};

/// Seconds until the last rank is done.
[[nodiscard]] double collective_seconds(CollectiveCall const& call, Algorithm algorithm,
                                        CollectiveWorld const& world);

/// Calls whose sizes only some ranks know (the irregular kinds) get one that needs no agreement.
struct CollectiveChoice {
    Algorithm algorithm = Algorithm::linear;
    Bytes segment = 64 << 10;
    double seconds = 0;
};
[[nodiscard]] CollectiveChoice choose_collective(CollectiveCall const& call,
                                                 CollectiveWorld const& world);

}  // namespace sluice
