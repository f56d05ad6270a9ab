// How retired teams are kept and taken again. See retired_teams.hpp.
#include "mpi/communicator/retired_teams.hpp"

#include "mpi/communicator/team.hpp"

#include <algorithm>
#include <mutex>

namespace sluice {
namespace {

constexpr std::size_t retired_at_most = 4;

/// Teams whose communicator was freed, oldest first. The mutex is not held while the MPI is called:
/// from within it retire() is called.
struct Retired {
    Retired() { all.reserve(retired_at_most + 1); }
    std::mutex mutex;
    std::vector<std::shared_ptr<Team>> all;
};
Retired& retired() {
    static auto* const only = new Retired;
    return *only;
}

std::vector<std::shared_ptr<Team>> retired_teams() {
    std::lock_guard const lock(retired().mutex);
    return retired().all;
}

/// Out of the list; false where it is no longer there, or is used. `team` is one use.
bool take(std::shared_ptr<Team> const& team) {
    std::lock_guard const lock(retired().mutex);
    auto& all = retired().all;
    auto const found = std::find(all.begin(), all.end(), team);
    if (found == all.end() || team.use_count() != 2) return false;
    all.erase(found);
    return true;
}

bool are_congruent(MPI_Comm one, MPI_Comm other) {
    int same = MPI_UNEQUAL;
    PMPI_Comm_compare(one, other, &same);
    return same == MPI_CONGRUENT;
}

}  // namespace

void retire(std::shared_ptr<Team> team) {
    std::shared_ptr<Team> oldest;  // Ends after the lock.
    std::lock_guard const lock(retired().mutex);
    auto& all = retired().all;
    all.push_back(std::move(team));
    if (all.size() <= retired_at_most) return;
    oldest = std::move(all.front());
    all.erase(all.begin());
}

std::shared_ptr<Team> take_retired(MPI_Comm communicator) {
    auto teams = retired_teams();
    for (auto team = teams.rbegin(); team != teams.rend(); ++team) {
        if (are_congruent(communicator, (*team)->communicator) && take(*team)) return *team;
    }
    return nullptr;
}

void forget_retired_teams() {
    std::vector<std::shared_ptr<Team>> all;  // End after the lock.
    std::lock_guard const lock(retired().mutex);
    all.swap(retired().all);
}

}  // namespace sluice
