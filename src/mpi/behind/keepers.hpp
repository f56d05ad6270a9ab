// Writes that are delayed at the same time may overlap where the keepers of all ranks know of each
// other: then these write what is left in the order of the calls.
#pragma once
#include "behind/journal.hpp"
#include "mpi/communicator/team.hpp"

namespace sluice {

/// The collective calls of a file's handle, whose order all keepers know.
class OrderedCalls {
public:
    /// Without a journal nothing outlives its rank. Null where the journal has no place.
    static std::shared_ptr<OrderedCalls> create(std::shared_ptr<Journal> journal,
                                                std::uint64_t opening);
    ~OrderedCalls();
    OrderedCalls(OrderedCalls const&) = delete;
    OrderedCalls& operator=(OrderedCalls const&) = delete;

    [[nodiscard]] NumberedCall call(std::int64_t number) const noexcept {
        return {opening_, number};
    }
    /// See Journal::note_complete().
    void note_complete(std::int64_t number);

private:
    OrderedCalls(std::shared_ptr<Journal> journal, std::size_t place, std::uint64_t opening);

    std::shared_ptr<Journal> journal_;
    std::size_t place_;
    std::uint64_t opening_;
};

/// Gives each rank's keeper the addresses of all other keepers. Null, on all ranks, where the
/// team's ranks are not all ranks of the program, lie on several nodes, or cannot reach each
/// other's journals; also where some have no journal in memory, unless none has one: then nothing
/// outlives its rank, and no order is lost. `rank_bytes`: as in DelayRules, 0 on all ranks or on
/// none; `opening`: see AgreedOpen::number. Collective over the team's communicator; blocks.
[[nodiscard]] std::shared_ptr<OrderedCalls> introduce_keepers(Team& team, Bytes rank_bytes,
                                                              std::uint64_t opening);

}  // namespace sluice
