// What ROMIO does in a collective write where files have stripes (ad_lustre of MPICH 3.3, after the
// descriptions in "Improving All-to-Many Personalized Communication in Two-Phase I/O" and its
// sources): all ranks tell each other how many requests they have for each aggregator, aggregators
// get lists of offsets and lengths, and then one round follows the other. In each round all ranks
// exchange counts (MPI_Alltoall), aggregators post a receive for each rank that has data for their
// one buffer, in the order of ranks, ranks post their sends, all wait, and aggregators write the
// buffer.
#pragma once
#include "base/request.hpp"
#include "study/romio/waitall_world.hpp"

#include <functional>

namespace sluice::simulated {

/// Parts of WaitallOutcome.
enum class RomioPart : std::uint8_t {
    metadata,  ///< Counts of requests, offsets and lengths.
    counts,    ///< The all-to-all exchange of each round.
    data,      ///< Messages, packing and merging of each round.
    storage,   ///< The exchange and the write of each round, at aggregators.
};

struct RomioCall {
    Machine machine;
    std::int32_t aggregators = 64;        ///< Spread evenly over the ranks.
    Bytes stripe_bytes = Bytes{1} << 20;  ///< An aggregator has one stripe of each round.
    bool synchronous = false;             ///< Data is sent by MPI_Issend.
    std::uint64_t seed = 1;
    std::function<Request(Rank)> request;
};

struct RomioOutcome : WaitallOutcome {
    std::int64_t rounds = 0;
    std::int64_t requests = 0;  ///< Offset-length pairs of all ranks.
    double senders = 0;         ///< To an aggregator in a round, on average.
};

[[nodiscard]] RomioOutcome run_romio(RomioCall const& call);

}  // namespace sluice::simulated
