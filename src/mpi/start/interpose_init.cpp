// The library's MPI_Init, MPI_Init_thread, MPI_Finalize and session functions. At the start they
// only raise the thread level where several nodes need it. At the end, when no function of the
// program will run any more, they wait for requests, print statistics and end the helper thread.
#include "mpi/behind/rank_journal.hpp"
#include "mpi/collective/communicator_collectives.hpp"
#include "mpi/collective/own_reduction.hpp"
#include "mpi/communicator/node_links.hpp"
#include "mpi/communicator/peers.hpp"
#include "mpi/errors.hpp"
#include "mpi/events/call_log.hpp"
#include "mpi/events/job_trace.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/closed_files.hpp"
#include "mpi/file/statistics.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/progress/threads.hpp"
#include "mpi/requests/requests.hpp"
#include "mpi/start/built_for.hpp"
#include "mpi/start/check_abi.hpp"
#include "mpi/start/interposition.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"
#include "system/preload.hpp"
#include "system/shared_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <mpi.h>

namespace sluice {
namespace {

/// What MPI_Finalize returns, where it cannot tell of something worse.
std::atomic<int> late_error{MPI_SUCCESS};

std::atomic<int> instances{0};  ///< The world and sessions that are not finalized yet.

/// Launchers tell how many ranks there are, and how many on this node. Unknown counts as several.
bool on_one_node() {
    Launch const launch = launched();
    return launch.ranks >= 1 && launch.ranks == launch.ranks_of_node;
}

/// Where the system refuses, each rank is a node of its own.
bool memory_can_be_shared() {
    constexpr std::size_t windows_of_a_file = std::size_t{64} << 20;  // Of a few ranks.
    if (!settings().shared_memory) return false;
    auto const memory = SharedMemory::create(windows_of_a_file);
    return memory && memory->reserve({0, 1});  // As the doorbell of each process is.
}

/// On one node nothing of ours calls MPI from another thread; between nodes the helper does, unless
/// messages go over a fabric.
bool needs_multiple() {
    Settings const& s = settings();
    bool const one = on_one_node() && s.ranks_per_node == 0 && s.local_aggregators == 0 &&
                     memory_can_be_shared();
    bool const helper_calls = !one && !fabric_is_offered();
    return s.enabled && calls_arrive() && helper_calls;
}

/// Before the MPI reads its parameters. Open MPI's collective calls on files, those of the shared
/// pointer with them, would sieve: write what lies between the pieces as they found it.
void keep_from_sieving() {
    if (settings().enabled && calls_arrive())
        setenv("OMPI_MCA_fbtl_posix_write_datasieving", "false", 1);
}

/// What has to be settled before the MPI begins.
void before_start() {
    check_abi();
    keep_from_sieving();
    if (calls_arrive()) record::CallLog::prepare();
    if (calls_arrive()) show_this_process();
}

/// `world` is null in a session.
void initialised(int rank, bool multiple, MPI_Comm world) {
    ++instances;
    check_constants();
    set_thread_multiple(multiple);
    set_world_rank(rank);
    tell_complaints();
    leave_preload();
    if (!settings().enabled) return;
    tell_missed_calls(rank);
    if (!calls_arrive()) return;
    note("version " SLUICE_VERSION " for " SLUICE_BUILT_FOR);
    bool const asks_others =
        settings().collectives || settings().affinity.way == Affinity::Way::spread;
    bool const all = world != MPI_COMM_NULL && asks_others && all_have_sluice(world);
    settle_threads(all ? world : MPI_COMM_NULL);
    if (settings().collectives && all) Endpoints::set_up_world();
    if (settings().trace.file.empty()) return;
    bool const merges = world != MPI_COMM_NULL && all_have_sluice(world);
    begin_trace(merges ? world : MPI_COMM_NULL, rank);
}

/// Before the world or a session ends; after the last one MPI is gone.
void finalizing() {
    SLUICE_TRACED(MPI_Finalize);
    bool const last = --instances == 0;
    if (last) record::CallLog::stop();
    if (!settings().enabled) return;
    for (auto const& file : open_files()) file->drain();
    Status late = end_closed_files(last);
    reap(true);
    free_spares();
    if (last) {
        end_rank_journal();
        for (auto const& file : open_files()) late = agreed(late, file->release_storage());
    }
    late_error = raise(MPI_FILE_NULL, late);
    if (!last) return;
    end_marks_of_node();
    print_statistics();
    free_what_was_needed();
    Progress::stop();
    CommunicatorCollectives::forget_all();
    Team::forget_all();
    forget_peers();
    forget_types();
}

/// The last that the program's MPI_Finalize calls of ours, while MPI is still whole.
int world_finalizing(MPI_Comm, int, void*, void*) {
    finalizing();
    end_trace();
    return MPI_SUCCESS;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else, the last one set first
/// (MPI-4.0, 11.2.4), and programs may use files in their delete functions: HDF5 closes there what
/// was left open. This attribute is set before the program can set any, so it is deleted behind all
/// of them. Returns whether it could be set.
bool end_behind_delete_functions() {
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, world_finalizing, &key, nullptr)) {
        return false;
    }
    bool const set = PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);  // It stays for as long as the attribute does.
    return set;
}

std::atomic<bool> ends_behind{false};  ///< MPI_Finalize comes to world_finalizing() by itself.

void world_initialised() {
    ends_behind = end_behind_delete_functions();
    int provided = MPI_THREAD_SINGLE, rank = 0, ranks = 0;
    PMPI_Query_thread(&provided);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings().enabled) check_world(ranks);
    initialised(rank, provided == MPI_THREAD_MULTIPLE, MPI_COMM_WORLD);
    if (calls_arrive()) record::CallLog::start(rank, ranks);
}

#ifdef SLUICE_HAVE_SESSIONS
/// Without MPI_COMM_WORLD only the launcher can tell.
int rank_of_launcher() { return static_cast<int>(std::max(launched().rank, 0L)); }

bool is_multiple(MPI_Session session) {
    MPI_Info used = MPI_INFO_NULL;
    if (PMPI_Session_get_info(session, &used) != MPI_SUCCESS) return false;
    char level[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    PMPI_Info_get(used, "thread_level", MPI_MAX_INFO_VAL, level, &found);
    PMPI_Info_free(&used);
    return found && std::strcmp(level, "MPI_THREAD_MULTIPLE") == 0;
}

/// What the program asked for, with the thread level raised.
MPI_Info with_multiple(MPI_Info info) {
    MPI_Info raised = MPI_INFO_NULL;
    if (info == MPI_INFO_NULL)
        PMPI_Info_create(&raised);
    else
        PMPI_Info_dup(info, &raised);
    PMPI_Info_set(raised, "thread_level", "MPI_THREAD_MULTIPLE");
    return raised;
}
#endif

}  // namespace
}  // namespace sluice

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    sluice::before_start();
    int provided = 0;
    int const code = sluice::needs_multiple()
                         ? SLUICE_PMPI(MPI_Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                         : SLUICE_PMPI(MPI_Init)(argc, argv);
    if (code == MPI_SUCCESS) sluice::world_initialised();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    sluice::before_start();
    int const level = sluice::needs_multiple() ? MPI_THREAD_MULTIPLE : required;
    int const code = SLUICE_PMPI(MPI_Init_thread)(argc, argv, level, provided);
    if (code == MPI_SUCCESS) sluice::world_initialised();
    return code;
}

int MPI_Finalize(void) {
    if (!sluice::ends_behind) sluice::world_finalizing(MPI_COMM_SELF, 0, nullptr, nullptr);
    int const code = SLUICE_PMPI(MPI_Finalize)();
    return code == MPI_SUCCESS ? sluice::late_error.load() : code;
}

#ifdef SLUICE_HAVE_SESSIONS
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
    sluice::before_start();
    MPI_Info asked = sluice::needs_multiple() ? sluice::with_multiple(info) : info;
    int const code = SLUICE_PMPI(MPI_Session_init)(asked, handler, session);
    if (asked != info) PMPI_Info_free(&asked);
    if (code == MPI_SUCCESS) {
        sluice::initialised(sluice::rank_of_launcher(), sluice::is_multiple(*session),
                            MPI_COMM_NULL);
    }
    return code;
}

int MPI_Session_finalize(MPI_Session* session) {
    sluice::finalizing();
    int const code = SLUICE_PMPI(MPI_Session_finalize)(session);
    return code == MPI_SUCCESS ? sluice::late_error.load() : code;
}
#endif

}  // extern "C"
