// What all ranks of a team learn of each other at once. See team.hpp.
#include "mpi/communicator/team.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Behind those of operations' messages (file/run/effects_messages.cpp); one for each queue.
constexpr int first_tag = 1 << 14;

/// Without a helper: ranks that have not come to this call may wait for this one's operations.
void drive_until_complete(MPI_Request& request) {
    auto const is_complete = [&] {
        int flag = 0;
        return PMPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    };
    Progress::instance().drive({.mpi_done = is_complete, .mpi_often = true});
}

/// A reduction and a broadcast over the same binomial tree. Its messages are told by their tag:
/// collective calls of the MPI are told by their order on the communicator, in which threads with
/// different files differ from rank to rank.
class Tree {
public:
    Tree(MPI_Comm communicator, Rank self, Rank ranks, int tag) noexcept
        : communicator_(communicator),
          self_(self),
          ranks_(ranks),
          tag_(tag) {}

    [[nodiscard]] NodeReduction::Words largest(NodeReduction::Words all) const {
        Rank span = 1;  // Of ranks whose words are known here.
        for (; span < ranks_ && self_ % (2 * span) == 0; span *= 2)
            if (self_ + span < ranks_) take_largest(all, self_ + span);
        if (self_ > 0) {
            send(all, self_ - span);
            all = receive(self_ - span);
        }
        for (span /= 2; span > 0; span /= 2)
            if (self_ + span < ranks_) send(all, self_ + span);
        return all;
    }

private:
    void take_largest(NodeReduction::Words& all, Rank from) const {
        auto const theirs = receive(from);
        std::ranges::transform(all, theirs, all.begin(),
                               [](auto one, auto other) { return std::max(one, other); });
    }
    void send(NodeReduction::Words const& words, Rank to) const {
        PMPI_Send(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, to, tag_,
                  communicator_);
    }
    [[nodiscard]] NodeReduction::Words receive(Rank from) const {
        NodeReduction::Words words{};
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Irecv(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, from, tag_,
                   communicator_, &request);
        if (Progress::needs_callers()) drive_until_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
        return words;
    }

    MPI_Comm communicator_;
    Rank self_, ranks_;
    int tag_;
};

}  // namespace

NodeReduction::Words Team::largest(NodeReduction::Words const& mine) {
    NodeReduction::Words all{};
    if (reduction) return largest(mine, *reduction);
    PMPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_MAX,
                   communicator);
    return all;
}

NodeReduction::Words Team::largest(NodeReduction::Words const& mine, QueuePlace const& of_file) {
    if (of_file.shared_pointer) return largest(mine, of_file.shared_pointer->meeting);
    return Tree(communicator, self, topology->rank_count(),
                first_tag + of_file.execution_context.queue)
        .largest(mine);
}

/// Those of this rank alone where a rank of the node has ended.
NodeReduction::Words Team::largest(NodeReduction::Words const& mine, NodeReduction& meeting) {
    meeting.begin(mine);
    Progress::instance().drive(
        {.done = [&] { return meeting.finished() || lost_rank(clock_.now()); },
         .poke = [&] { poke(); }});
    return lost_ ? mine : meeting.largest();
}

}  // namespace sluice
