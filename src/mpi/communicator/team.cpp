// How teams are set up, found again and freed. See team.hpp.
#include "mpi/communicator/team.hpp"

#include "mpi/attribute.hpp"
#include "mpi/communicator/peers.hpp"
#include "mpi/communicator/queues.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"
#include "system/random.hpp"

#include <algorithm>
#include <mutex>
#include <sched.h>
#include <unistd.h>

namespace sluice {
namespace {

/// The teams of this process. The mutex is not held while the MPI is called, because the MPI calls
/// retire().
struct Teams {
    static constexpr std::size_t retired_at_most = 4;
    Teams() { retired.reserve(retired_at_most + 1); }
    std::mutex mutex;
    std::vector<Team*> all;
    /// Those whose communicator was freed, oldest first: the last few are kept for the next
    /// communicator of the same ranks, because libraries duplicate a communicator for each file.
    std::vector<std::shared_ptr<Team>> retired;
};
Teams& teams() {
    static auto* const only = new Teams;
    return *only;
}

/// Keeps the team, and ends the oldest where there are too many.
void retire(std::shared_ptr<Team> team) {
    std::shared_ptr<Team> oldest;  // Ends after the lock.
    std::lock_guard const lock(teams().mutex);
    auto& retired = teams().retired;
    retired.push_back(std::move(team));
    if (retired.size() <= Teams::retired_at_most) return;
    oldest = std::move(retired.front());
    retired.erase(retired.begin());
}

/// Takes the team out of the list; false where it is no longer there, an open file uses it, or
/// another thread looks at it as well. `team` is one use.
bool take(std::shared_ptr<Team> const& team) {
    std::lock_guard const lock(teams().mutex);
    auto& retired = teams().retired;
    auto const found = std::find(retired.begin(), retired.end(), team);
    if (found == retired.end() || team.use_count() != 2 + team->uses_by_closed) return false;
    retired.erase(found);
    return true;
}

/// The youngest retired team that fits the communicator, or null. It is taken out of the list,
/// because other threads must not wait for this one.
std::shared_ptr<Team> take_retired(MPI_Comm communicator) {
    auto const retired = [] {
        std::lock_guard const lock(teams().mutex);
        return teams().retired;
    }();
    for (auto team = retired.rbegin(); team != retired.rend(); ++team) {
        int same = MPI_UNEQUAL;
        PMPI_Comm_compare(communicator, (*team)->communicator, &same);
        if (same == MPI_CONGRUENT && take(*team)) return *team;
    }
    return nullptr;
}

Attribute<Team> kept_teams(retire);

/// How many cores the ranks of the node have together. Each rank may be bound to a part of them.
int cores_of_all(MPI_Comm node) {
    cpu_set_t mine{}, all{};
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
    PMPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    return CPU_COUNT(&all);
}

/// A communicator of the same ranks in the same order. A duplicate would have the program's
/// attributes, and would outlast what they point to.
MPI_Comm make_own(MPI_Comm communicator) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm own = MPI_COMM_NULL;
    PMPI_Comm_group(communicator, &group);
    int const code = PMPI_Comm_create(communicator, group, &own);
    PMPI_Group_free(&group);
    return code == MPI_SUCCESS ? own : MPI_COMM_NULL;
}

/// The ranks that share memory with this one, or that pretend to.
MPI_Comm split_by_node(MPI_Comm communicator) {
    int const rank = rank_in(communicator);
    MPI_Comm machine = MPI_COMM_NULL, node = MPI_COMM_NULL;
    PMPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    int const pretended = settings().shared_memory ? settings().ranks_per_node : 1;
    int const color = pretended > 0 ? rank_in(machine) / pretended : 0;
    PMPI_Comm_split(machine, color, rank, &node);
    PMPI_Comm_free(&machine);
    return node;
}

/// A node is named after the lowest of the ranks that share memory, or after a rank that does not.
Topology topology_of(MPI_Comm communicator, MPI_Comm node, bool shared) {
    int name = rank_in(communicator);
    if (shared) PMPI_Bcast(&name, 1, MPI_INT, 0, node);
    std::vector<std::int32_t> names(static_cast<std::size_t>(size_in(communicator)));
    PMPI_Allgather(&name, 1, MPI_INT, names.data(), 1, MPI_INT, communicator);
    return Topology(names);
}

/// For two-layer aggregation, divides each node into groups that count as nodes, and puts this
/// rank's group in the place of `node`. Nothing where the settings divide none.
std::optional<Topology> divide(MPI_Comm communicator, MPI_Comm& node) {
    if (settings().local_aggregators <= 0) return std::nullopt;
    auto divided = topology_of(communicator, node, true).divided(settings().local_aggregators);
    PMPI_Comm_free(&node);
    Rank const self = rank_in(communicator);
    PMPI_Comm_split(communicator, divided.node_of(self), self, &node);
    return divided;
}

/// An MPI has few communicators (MPICH 2,048), and ROMIO takes one for each open file: the program
/// must be able to open nearly as many files as without this library.
constexpr std::size_t teams_at_most = 96;

std::size_t team_count() {
    std::lock_guard const lock(teams().mutex);
    return teams().all.size();
}

}  // namespace

std::shared_ptr<Team> Team::of(MPI_Comm communicator) {
    if (auto known = kept_teams.get(communicator)) return *std::move(known);
    if (!all_have_sluice(communicator)) {
        warn("a communicator has ranks that do not run under Sluice, or with other settings, or "
             "processes of another MPI_COMM_WORLD: the MPI serves its files itself");
        kept_teams.set(communicator, nullptr);
        return nullptr;
    }
    wait_for_unseen(communicator);
    bool is_one_too_many = false;
    auto team = revive(communicator, is_one_too_many);
    if (is_one_too_many) {
        warn("files of " + std::to_string(teams_at_most) +
             " communicators are open: the MPI serves those of others itself, as each takes one of "
             "the MPI's communicators more");
        return nullptr;
    }
    if (!team) {
        MPI_Comm const own = make_own(communicator);
        if (own == MPI_COMM_NULL) return nullptr;
        PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        team = std::make_shared<Team>(own);
        if (!team->set_up()) team.reset();
    }
    kept_teams.set(communicator, team);
    return team;
}

/// A retired team of the same ranks in the same order, if all of them have found the same one:
/// threads may free and open communicators in another order on other ranks.
std::shared_ptr<Team> Team::revive(MPI_Comm communicator, bool& is_one_too_many) {
    auto team = take_retired(communicator);
    std::uint64_t const mine = team ? team->name_ : 0;
    std::uint64_t const names[3]{mine, ~mine, ~std::uint64_t{team_count()}};
    std::uint64_t least[3]{};
    PMPI_Allreduce(names, least, 3, MPI_UINT64_T, MPI_MIN, communicator);
    if (team && least[0] == mine && least[1] == ~mine) return team;
    is_one_too_many = ~least[2] >= teams_at_most;
    if (team) retire(std::move(team));
    return nullptr;
}

void Team::forget_all() {
    kept_teams.forget();
    std::vector<std::shared_ptr<Team>> unused;
    {
        std::lock_guard const lock(teams().mutex);
        unused.swap(teams().retired);
    }
    unused.clear();
    auto const used = [] {
        std::lock_guard const lock(teams().mutex);
        return teams().all;
    }();
    for (Team* const team : used) team->free_communicator();
}

Team::Team(MPI_Comm own) : communicator(own), self(rank_in(own)) {
    std::lock_guard const lock(teams().mutex);
    teams().all.push_back(this);
}

Team::~Team() {
    {
        std::lock_guard const lock(teams().mutex);
        std::erase(teams().all, this);
    }
    free_communicator();
}

void Team::free_communicator() {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!finalized && communicator != MPI_COMM_NULL) PMPI_Comm_free(&communicator);
}

bool Team::set_up() {
    auto key = agree_on_name_and_key();
    set_up_node();
    int const mine = thread_core_count();
    PMPI_Allreduce(&mine, &cores_a_node, 1, MPI_INT, MPI_MIN, communicator);
    bool const one_node = topology->node_count() == 1;
    if (!one_node && !links.connect(communicator, *topology, name_)) return false;
    watch = std::make_unique<RankWatch>(node->processes(), *topology, self, links.of_files());
    bool const ready = !one_node || node->make_reduction(topology->local_index(self));
    queues = std::make_unique<Queues>(*this, std::move(key));
    return queues->begin(ready);
}

/// Rank 0 of a team draws its name, which other teams of the same processes must not have, and the
/// key of the proof of coverage. No pattern can have been made for a key that is as young as its
/// communicator's team. Without random numbers it counts.
std::shared_ptr<FingerprintKey const> Team::agree_on_name_and_key() {
    static std::atomic<std::uint32_t> count{0};
    struct {
        std::uint64_t name = 0;
        FingerprintKey::Point point{};  ///< Zero: the system has no random numbers.
    } ours;
    if (self == 0) {
        SystemRandom random;
        auto const counted = (static_cast<std::uint64_t>(getpid()) << 32) + ++count;
        ours.name = std::max<std::uint64_t>(random().value_or(counted), 1);
        ours.point = draw_generator(random).value_or(FingerprintKey::Point{});
    }
    PMPI_Bcast(&ours, sizeof ours, MPI_BYTE, 0, communicator);
    name_ = ours.name;
    if (is_generator(ours.point)) return std::make_shared<FingerprintKey const>(ours.point);
    note("no random numbers from the system: coverage is marked, never proved");
    return nullptr;
}

/// Finds out which ranks share a node, and what this node shares.
void Team::set_up_node() {
    MPI_Comm group = split_by_node(communicator);
    auto divided = divide(communicator, group);
    Rank const ranks = size_in(communicator), local_count = size_in(group);
    if (local_count > 1) {
        node = NodeShare::among(group, Progress::instance().doorbell_page(),
                                Queues::bytes_needed(local_count, ranks));
        if (!node) warn("no shared memory on this node: its ranks exchange messages instead", true);
    }
    bool const own_cores = cores_of_all(group) >= local_count;
    Progress::instance().allow_spinning(own_cores && settings().ranks_per_node == 0);
    topology =
        std::make_unique<Topology>(topology_of(communicator, group, node || local_count == 1));
    PMPI_Comm_free(&group);
    if (divided && divided->node_count() == topology->node_count()) *topology = std::move(*divided);
    if (!node) node = NodeShare::of_one_rank(Queues::bytes_needed(1, ranks));
}

void Team::poke() const { sluice::poke(communicator); }

NodeReduction::Words Team::largest(NodeReduction::Words const& mine) {
    if (NodeReduction* const meeting = node->reduction()) return largest(mine, *meeting);
    NodeReduction::Words all{};
    PMPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_MAX,
                   communicator);
    return all;
}

NodeReduction::Words Team::largest(NodeReduction::Words const& mine, NodeReduction& meeting) {
    meeting.begin(mine);
    SteadyClock clock;
    Progress::instance().drive(
        {.done = [&] { return meeting.finished() || watch->lost_rank(clock.now()); },
         .poke = [&] { poke(); }});
    return watch->has_lost_rank() ? mine : meeting.largest();
}

}  // namespace sluice
