// The registry of open files, and how operations on a file are begun, waited for and accounted. See
// file.hpp.
#include "mpi/file/file.hpp"

#include "file/plan/overlap.hpp"
#include "mpi/behind/keepers.hpp"
#include "mpi/behind/rank_journal.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/access.hpp"
#include "mpi/file/agreed_hints.hpp"
#include "mpi/file/agreed_open.hpp"
#include "mpi/file/closed_files.hpp"
#include "mpi/file/position.hpp"
#include "mpi/file/statistics.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/errno_status.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"
#include "system/openmp.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unordered_map>
#include <unordered_set>

namespace sluice {
namespace {

struct Files {
    std::mutex mutex;
    std::unordered_map<MPI_File, std::shared_ptr<File>> all;
    std::unordered_set<MPI_File> left_to_mpi;  ///< By ranks that all run this library.
};
Files& files() {
    static auto* const only = new Files;
    return *only;
}

/// Where the launcher does not count them, those count that open the file, if all ranks do.
long ranks_of_node(Team const& team) {
    Topology const& topology = *team.topology;
    Launch const launch = launched();
    if (launch.ranks_of_node > 0) return launch.ranks_of_node;
    long const here = topology.local_count(topology.node_of(team.self));
    return launch.ranks == topology.rank_count() ? here : std::max(here, launch.sharing_node());
}

/// The part of this rank of what the ranks of a node share evenly: 0 on all ranks, or on none.
Bytes part_of_rank(Bytes of_node, Team const& team) {
    return of_node > 0 ? std::max<Bytes>(of_node / ranks_of_node(team), 1) : 0;
}

/// Where the end of the file, or the file itself, is looked at later, nothing is delayed.
Bytes delay_bytes(FileHints const& hints, int amode, OwnFile const& own, Team const& team) {
    constexpr int never = MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_RDONLY;
    return (amode & never) || own.fd < 0 ? 0 : part_of_rank(hints.write_behind, team);
}

DelayRules delay_rules(FileHints const& hints, int amode, OwnFile const& own, Team const& team) {
    bool const past_cache = hints.page_cache == PageCache::direct_io;
    bool const spare_cores =
        has_spare_cores(team.cores_a_node, ranks_of_node(team), openmp_threads());
    return {delay_bytes(hints, amode, own, team),
            own.order,
            {settings().always_behind, past_cache, spare_cores}};
}

/// Writes of it may be delayed, or reads be made ahead.
bool keeps_order(FileHints const& hints, OwnFile const& own) {
    return (hints.write_behind > 0 || hints.read_ahead > 0) && own.fd >= 0;
}

/// A program that changes such a file by a mapping would not be seen.
Bytes ahead_bytes(FileHints const& hints, OwnFile const& own, Team const& team) {
    if (hints.read_ahead <= 0 || own.fd < 0) return 0;
    bool const in_memory = is_in_memory(own.fd) && !settings().always_behind;
    return in_memory ? 0 : part_of_rank(hints.read_ahead, team);
}

/// A checkpoint may come after the file was closed: it has a descriptor of its own.
JournaledFile journaled(OwnFile const& own, FileHints const& hints) {
    FileBirth const birth = hints.write_behind > 0 ? birth_of(own.fd) : FileBirth{};
    RecordedFile const file{own.name, own.identity, birth};
    if (!wants_durable_journal()) return {file};
    auto const fd = std::make_shared<Descriptor>(fcntl(own.fd, F_DUPFD_CLOEXEC, 0));
    return {file, [fd] { return system_error("fdatasync", sync_data(fd->get())); }};
}

}  // namespace

File::File(MPI_File mpi_handle, std::shared_ptr<Team> its_team, QueuePlace& place, OwnFile own,
           int its_amode, FileHints its_hints)
    : handle(mpi_handle),
      team(std::move(its_team)),
      name(own.name),
      amode(its_amode),
      hints(std::move(its_hints)),
      opening(own.number),
      sequence(team->files_opened++),
      tells_late(own.tells_late),
      identity(own.identity),
      storage(std::move(own.storage)),
      delayed(Delayed::create({team, storage, own.fd, own.number, journaled(own, hints),
                               keeps_order(hints, own), delay_rules(hints, amode, own, *team)},
                              [this](Operation const& operation) { completed(operation); })),
      ahead(own.fd, ahead_bytes(hints, own, *team)),
      fd_(own.fd),
      place_(place) {}

File::~File() = default;

/// All or nothing: an operation with a number that never comes would stop those after it.
std::shared_ptr<Operation> File::start(Call call, bool background) {
    call.storage = storage.get();
    call.file = name.c_str();
    call.hints = hints.plan;
    call.ordered = delayed->ordered();
    call.reads_beyond_end = delayed->ordered() && is_beyond_end(call.request);
    call.report_error = [this](Operation const& failed) { log(failed.title(), failed.error()); };
    Bytes const bytes = call.request.bytes;
    auto operation = place_.queue->make(std::move(call));
    note_in_trace(*operation, bytes);
    try {
        hand_over(operation, background);
    } catch (...) {
        place_.queue->unmake();
        throw;
    }
    return operation;
}

void File::hand_over(std::shared_ptr<Operation> const& operation, bool background) {
    bool alone = true;
    {
        std::lock_guard const lock(mutex_);
        std::erase_if(pending_, [](auto const& weak) {
            auto const held = weak.lock();
            return !held || held->complete();
        });
        alone = pending_.empty();
        pending_.push_back(operation);
    }
    if (alone || !delayed->ordered()) operation->run_early();
    OperationQueue& queue = *place_.queue;
    Progress::instance().submit(
        queue, [&queue, operation] { queue.append(operation); }, background);
}

void File::wait(Operation& operation) {
    Wait waiting{.done = [&] { return operation.complete(); }, .poke = [&] { team->poke(); }};
    operation.offer_caller();
    if (operation.caller_transfers()) {
        waiting.part = [&] { return operation.run_callers_part(); };
        waiting.polls_long = true;
    }
    Progress::instance().drive(waiting);
}

/// Without a helper nobody would move on what is left.
bool File::wait_for_own_part(std::shared_ptr<Operation> const& operation) {
    auto& progress = Progress::instance();
    bool released = false;
    auto const leave = [&] {
        released = operation->may_release_caller() && progress.can_help();
        if (released) operation->release_caller();
        return released;
    };
    progress.drive({.done = [&] { return operation->complete(); },
                    .poke = [&] { team->poke(); },
                    .part = [&] { return operation->run_callers_part(); },
                    .released = leave,
                    .polls_long = true});
    if (!released) return true;
    delayed->leave(operation);
    return false;
}

Status File::agree(Status mine) {
    Call call;
    call.status = mine;
    auto const operation = start(std::move(call), false);
    wait(*operation);
    return operation->status();
}

Status File::agree_beside(Status mine) {
    if (!delayed->ordered()) return agree(mine);
    NodeReduction::Words words{};
    words[0] = static_cast<std::uint64_t>(mine);
    return static_cast<Status>(largest(words)[0]);
}

NodeReduction::Words File::largest(NodeReduction::Words const& mine) const {
    return team->queues->largest(mine, place_);
}

Status File::agree(char const* operation, Error const& mine) {
    log(operation, mine);
    return agree(mine.status);
}

void File::log(std::string const& operation, Error const& error) const {
    if (error) log_error(name + ": " + operation, error);
}

Status File::release_storage() {
    Error const told = storage->release();
    log("closing the file", told);
    return told.status;
}

void File::drain() {
    SteadyClock clock;
    double const began = clock.now();
    std::vector<std::weak_ptr<Operation>> pending;
    {
        std::lock_guard const lock(mutex_);
        pending.swap(pending_);
    }
    for (auto const& weak : pending) {
        if (auto const operation = weak.lock()) wait(*operation);
    }
    delayed->drain();
    drained(clock.now() - began);
}

void File::drain_requests() {
    std::vector<std::shared_ptr<Operation>> waited_for;
    {
        std::lock_guard const lock(mutex_);
        for (auto const& weak : pending_) {
            auto const operation = weak.lock();
            if (operation && !delayed->has(*operation) && !ahead.has(*operation))
                waited_for.push_back(operation);
        }
    }
    for (auto const& operation : waited_for) wait(*operation);
}

void File::begin_to_close() noexcept { closed_at_ = next_record(); }

bool File::give_back() {
    if (gave_back_.exchange(true)) return false;
    ahead.clear();
    return true;
}

bool File::is_drained() const {
    std::lock_guard const lock(mutex_);
    return delayed->is_drained(closed_at_) && std::ranges::all_of(pending_, [](auto const& weak) {
               auto const operation = weak.lock();
               return !operation || operation->complete();
           });
}

void File::set_hints(FileHints next) {
    next.disabled = hints.disabled;
    next.close = hints.close;
    next.page_cache = hints.page_cache;
    next.write_behind = hints.write_behind;
    next.read_ahead = hints.read_ahead;
    next.placement = hints.placement;
    next.has_stripes = hints.has_stripes;
    if (hints.has_stripes) {  // A hint cannot change them.
        next.plan.stripe_bytes = hints.plan.stripe_bytes;
        next.plan.stripe_count = hints.plan.stripe_count;
    }
    hints = next;
}

std::vector<std::pair<std::string, std::string>> File::hints_in_force() const {
    return sluice::hints_in_force(hints, place_.execution_context.limits.aggregator_count);
}

bool File::is_beyond_end(Request const& request) const noexcept {
    struct stat about{};
    return request.direction == Direction::read && request.bytes > 0 && fstat(fd_, &about) == 0 &&
           reach_of(request).end > about.st_size;
}

void File::drop_read_ahead(Span changed) {
    if (!delayed->minds_others() || changed.empty()) return;
    for (auto const& other : open_files()) {
        if (other->identity == identity) other->ahead.drop(changed);
    }
}

std::shared_ptr<File> find_file(MPI_File handle) {
    if (!settings().enabled) return nullptr;
    std::lock_guard const lock(files().mutex);
    auto const found = files().all.find(handle);
    return found == files().all.end() ? nullptr : found->second;
}

void add_file(std::shared_ptr<File> file) {
    std::lock_guard const lock(files().mutex);
    files().all[file->handle].swap(file);
}

void remove_file(MPI_File handle) {
    std::shared_ptr<File> last;  // Ends after the lock: it may be the last use of its team.
    std::lock_guard const lock(files().mutex);
    files().left_to_mpi.erase(handle);
    auto const found = files().all.find(handle);
    if (found == files().all.end()) return;
    last = std::move(found->second);
    files().all.erase(found);
}

bool is_left_by_all(MPI_File handle) {
    std::lock_guard const lock(files().mutex);
    return files().left_to_mpi.contains(handle);
}

std::vector<std::shared_ptr<File>> open_files() {
    std::lock_guard const lock(files().mutex);
    std::vector<std::shared_ptr<File>> all;
    for (auto const& [handle, file] : files().all) all.push_back(file);
    return all;
}

namespace {

/// Registers a file to be served and returns null, or returns why the MPI serves it; the same on
/// all ranks. Collective over `communicator`.
char const* serve(MPI_Comm communicator, char const* name, int amode, FileHints hints,
                  MPI_File handle) {
    if (amode & MPI_MODE_SEQUENTIAL) return "it was opened with MPI_MODE_SEQUENTIAL";
    auto const team = Team::of(communicator);
    if (!team) return "its communicator cannot be served, as a warning has said";
    OwnFile own(name, amode, hints, *team);
    auto const agreed = agree_at_open(hints, *team, own);
    if (agreed.refusal) return agreed.refusal;
    auto const take_place = [&, aggregators = agreed.placed
                                                  ? agreed_aggregators(hints.placement, *team)
                                                  : std::vector<Rank>{}] {
        return team->queues->take(aggregators);
    };
    if (agreed.closed_are_many) complete_closed(*team);
    QueuePlace* place = take_place();
    if (!place) complete_closed(*team);
    if (!place) place = take_place();
    if (!place) {
        warn("too many files of one communicator are open: the MPI serves the rest");
        return "too many files of one communicator are open";
    }
    place->set_machine(agreed.machine);
    own.number = agreed.number;
    own.tells_late = agreed.tells_late;
    if (!agreed.past_cache) own.storage->allow_mapping();
    own.order = introduce_keepers(*team, part_of_rank(hints.write_behind, *team), own.number);
    auto const file = std::make_shared<File>(handle, team, *place, std::move(own), amode, hints);
    file->begin_trace(agreed.number);
    add_file(file);
    if (amode & MPI_MODE_APPEND) begin_at_end(*file);
    return nullptr;
}

/// The MPI serves the file, and will not ask for what other ranks write to it behind their closes.
/// Local, blocks.
void wait_for_writers_of(char const* name, MPI_Comm communicator) {
    auto const path = settings().hints.write_behind > 0 ? path_of(name) : std::nullopt;
    if (!path) return;
    OpenedFile const file = open_file(*path, AccessMode::read);
    if (file.descriptor.get() < 0) return;
    if (auto const identity = identity_of(file.descriptor.get()))
        Delayed::wait_for_others_of(file.descriptor.get(), *identity,
                                    [communicator] { poke(communicator); });
}

}  // namespace

void register_file(MPI_Comm communicator, char const* name, int amode, FileHints hints,
                   MPI_File handle) {
    if (!settings().enabled) return;
    char const* const why = serve(communicator, name, amode, hints, handle);
    note_opened();
    if (!why) return note(std::string("serves ") + name);
    note_left_to_mpi(name, why);
    wait_for_writers_of(name, communicator);
    if (hints.memory.stream.type != ProgramStream::Type::none)
        warn(std::string("calls on ") + name + " do not wait for its stream: the MPI serves it");
    if ((amode & MPI_MODE_SEQUENTIAL) || !Team::of(communicator)) return;
    std::lock_guard const lock(files().mutex);
    files().left_to_mpi.insert(handle);
}

}  // namespace sluice
