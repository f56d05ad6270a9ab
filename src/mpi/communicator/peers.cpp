// Ranks are found by marks on the node, by the launcher's numbers and by groups (decision 0031).
// See peers.hpp.
#include "mpi/communicator/peers.hpp"

#include "mpi/attribute.hpp"
#include "mpi/ranks.hpp"
#include "system/clock.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"
#include "system/marks.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace sluice {
namespace {

constexpr double marks_patience_seconds = 1;  ///< With marks, if MPI_Init does not wait for all.
constexpr double silence_seconds = 5;         ///< Until a warning that ranks do not come.

/// A word that all processes of a job on this node have in common, and no others; empty: unknown.
/// Hydra's processes share the proxy that started them, at the other end of their PMI socket, but
/// the proxy does not tell which spawned processes belong together.
std::string common_word() {
    if (char const* const space = std::getenv("PMIX_NAMESPACE")) return space;
    long const pmi = number_in_environment("PMI_FD");
    if (pmi < 0 || number_in_environment("PMI_SPAWNED") > 0) return {};
    ucred proxy{};
    socklen_t length = sizeof proxy;
    int const code = getsockopt(static_cast<int>(pmi), SOL_SOCKET, SO_PEERCRED, &proxy, &length);
    return code == 0 && proxy.pid > 0 ? std::to_string(proxy.pid) : "";
}

/// The version and the settings that all ranks must have alike: each of these settings adds
/// collective calls, which must match.
std::string alike() {
    Settings const& s = settings();
    std::pair<char, bool> const marks[] = {
        {'n', s.collectives},
        {'s', s.affinity.way == Affinity::Way::spread},
        {'m', s.network.way == NetworkSetting::Way::mpi},
        {'t', !s.trace.file.empty()},
        {'r', s.log >= LogLevel::summaries},
        {'j', !s.journal_folder.empty()},
    };
    std::string text = std::string(SLUICE_VERSION) + ".";
    for (auto const& [letter, is_set] : marks) text += is_set ? letter : '-';
    return text + s.network.provider;
}

/// Which processes of the job run under Sluice, as far as this one can see.
class JobProcesses {
public:
    static JobProcesses& instance() {
        static auto* const only = new JobProcesses;  // Seen by others until the process ends.
        return *only;
    }

    void show() {
        std::lock_guard const lock(mutex_);
        if (shown_) return;
        shown_ = true;
        std::string const name = common_word();
        long const self = one_node_ ? number_in_world() : launch_.rank_of_node;
        if (name.empty() || local_ < 1 || self < 0) return;
        prefix_ = "sluice." + std::to_string(geteuid()) + "." +
                  std::to_string(std::hash<std::string>()(name)) + "." + alike() + ".";
        knows_ = marks_.hold(prefix_ + std::to_string(self));
        seen_.resize(static_cast<std::size_t>(local_));
    }

    /// Whether all processes of this node do. Other nodes are taken to be like it.
    bool are_all_here() {
        std::lock_guard const lock(mutex_);
        for (int i = 0; knows_ && i < static_cast<int>(seen_.size()); ++i) {
            if (!sees(i)) return false;
        }
        return true;
    }

    /// `ranks` of MPI_COMM_WORLD.
    bool are_here(std::vector<int> const& ranks) {
        if (!one_node_) return ranks.size() == 1 || are_all_here();
        std::lock_guard const lock(mutex_);
        return !knows_ || std::all_of(ranks.begin(), ranks.end(), [&](int r) { return sees(r); });
    }

    /// Whether ranks may be on nodes that this process cannot see.
    [[nodiscard]] bool leaves_some_unseen() const { return !one_node_ || !knows_; }

private:
    static long number_in_world() {
        return std::max(
            {number_in_environment("PMIX_RANK"), number_in_environment("PMI_RANK"), -1L});
    }
    bool sees(int number) {
        auto const place = static_cast<std::size_t>(number);
        if (place >= seen_.size()) return false;
        while (!seen_[place]) {
            seen_[place] = marks_.is_held(prefix_ + std::to_string(number));
            if (seen_[place] || !is_patient()) break;
            usleep(1000);
        }
        return seen_[place];
    }
    bool is_patient() {
        if (missed_at_ == 0) missed_at_ = clock_.now();
        return clock_.now() - missed_at_ < marks_patience_seconds;
    }

    std::mutex mutex_;
    Marks marks_;
    SteadyClock clock_;
    Launch launch_ = launched();
    long local_ = launch_.ranks_of_node;
    bool one_node_ = launch_.ranks >= 1 && launch_.ranks == local_;
    bool shown_ = false, knows_ = false;
    std::string prefix_;  ///< How the names of all marks of this job begin.
    std::vector<bool> seen_;
    double missed_at_ = 0;
};

bool are_here(std::vector<int> const& ranks) {
    bool const foreign = std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end();
    return !foreign && JobProcesses::instance().are_here(ranks);
}

bool find_out(MPI_Comm communicator) {
    int world = 0;
    PMPI_Initialized(&world);
    if (!world) return world_has_sluice();  // A session: it has no group to compare with.
    if (!are_here(ranks_in(MPI_COMM_WORLD, communicator))) return false;
    if (!is_intercommunicator(communicator)) return true;
    MPI_Group others = MPI_GROUP_NULL;
    PMPI_Comm_remote_group(communicator, &others);
    auto const ranks = ranks_of(others, MPI_COMM_WORLD);
    PMPI_Group_free(&others);
    return are_here(ranks);
}

Attribute<bool> kept_answers([](std::shared_ptr<bool>) {});

}  // namespace

void show_this_process() {
    if (settings().enabled) JobProcesses::instance().show();
}

bool all_have_sluice(MPI_Comm communicator) {
    if (auto const known = kept_answers.get(communicator)) return **known;
    bool const found = find_out(communicator);
    kept_answers.set(communicator, std::make_shared<bool>(found));
    return found;
}

void forget_peers() { kept_answers.forget(); }

bool world_has_sluice() { return JobProcesses::instance().are_all_here(); }

void wait_for_unseen(MPI_Comm communicator) {
    if (!JobProcesses::instance().leaves_some_unseen() || size_in(communicator) == 1) return;
    MPI_Request request = MPI_REQUEST_NULL;
    SteadyClock clock;
    double const began = clock.now();
    bool told = false;
    PMPI_Ibarrier(communicator, &request);
    for (int done = 0; !done;) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
        if (done || told || clock.now() - began < silence_seconds) continue;
        warn("rank " + std::to_string(world_rank()) +
                 " waits for other ranks that open a file or " +
                 "communicate with it: does each of them run under Sluice, of the same version?",
             true);
        told = true;
    }
}

}  // namespace sluice
