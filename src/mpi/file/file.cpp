// The registry of open files, and how operations on a file are begun, waited for and accounted. See
// file.hpp.
#include "mpi/file/file.hpp"

#include "mpi/environment.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/access.hpp"
#include "mpi/file/agreed_hints.hpp"
#include "mpi/file/agreed_open.hpp"
#include "mpi/file/statistics.hpp"

#include <cmath>
#include <cstdio>
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

std::vector<std::string> names_in(MPI_Info info) {
    std::vector<std::string> names;
    int count = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        char name[MPI_MAX_INFO_KEY + 1] = "";
        if (PMPI_Info_get_nthkey(info, i, name) == MPI_SUCCESS) names.emplace_back(name);
    }
    return names;
}

Lookup lookup_in(MPI_Info info) {
    return [info](char const* name) -> std::optional<std::string> {
        if (info == MPI_INFO_NULL) return std::nullopt;
        char value[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get(info, const_cast<char*>(name), MPI_MAX_INFO_VAL, value, &found);
        return found ? std::optional<std::string>(value) : std::nullopt;
    };
}

}  // namespace

File::File(MPI_File mpi_handle, std::shared_ptr<Team> its_team, QueuePlace& place, OwnFile own,
           int its_amode, FileHints its_hints)
    : handle(mpi_handle),
      team(std::move(its_team)),
      name(std::move(own.name)),
      amode(its_amode),
      hints(std::move(its_hints)),
      storage(std::move(own.storage)),
      place_(place) {}

File::~File() = default;

/// All or nothing: an operation with a number that never comes would stop those after it.
std::shared_ptr<Operation> File::start(Call call, bool background) {
    call.storage = storage.get();
    call.hints = hints.plan;
    call.report_error = [this](Operation const& failed) { log(failed.title(), failed.error()); };
    auto operation = place_.queue->make(std::move(call));
    try {
        hand_over(operation, background);
    } catch (...) {
        place_.queue->unmake();
        throw;
    }
    return operation;
}

void File::hand_over(std::shared_ptr<Operation> const& operation, bool background) {
    operation->run_early();
    {
        std::lock_guard const lock(mutex_);
        std::erase_if(pending_, [](auto const& weak) {
            auto const held = weak.lock();
            return !held || held->complete();
        });
        pending_.push_back(operation);
    }
    OperationQueue& queue = *place_.queue;
    Progress::instance().submit(
        queue, [&queue, operation] { queue.append(operation); }, background);
}

void File::wait(Operation& operation) {
    Wait waiting{.done = [&] { return operation.complete(); }, .poke = [&] { team->poke(); }};
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
    std::lock_guard const lock(mutex_);
    left_behind_.push_back(operation);
    return false;
}

void File::settle() {
    std::vector<std::shared_ptr<Operation>> all;
    {
        std::lock_guard const lock(mutex_);
        all = left_behind_;
    }
    for (auto const& operation : all) wait(*operation);
    account();
}

void File::account() {
    std::vector<std::shared_ptr<Operation>> ended;
    {
        std::lock_guard const lock(mutex_);
        auto const going_on = std::ranges::stable_partition(
            left_behind_, [](auto const& operation) { return operation->complete(); });
        ended.assign(left_behind_.begin(), going_on.begin());
        left_behind_.erase(left_behind_.begin(), going_on.begin());
    }
    for (auto const& operation : ended) {
        completed(*operation);
        if (operation->status() == Status::ok) continue;
        if (!operation->error()) {
            log(operation->title(),
                {.status = operation->status(),
                 .what = "another rank met an error after the call had returned here"});
        }
        std::lock_guard const lock(mutex_);
        late_ = agreed(late_, operation->status());
    }
}

Status File::late_error() {
    account();
    std::lock_guard const lock(mutex_);
    return std::exchange(late_, Status::ok);
}

Status File::agree(Status mine) {
    Call call;
    call.status = mine;
    auto const operation = start(std::move(call), false);
    wait(*operation);
    return operation->status();
}

Status File::agree(char const* operation, Error const& mine) {
    log(operation, mine);
    return agree(mine.status);
}

void File::log(std::string const& operation, Error const& error) const {
    if (error) log_error(name + ": " + operation, error);
}

void File::drain() {
    std::vector<std::weak_ptr<Operation>> pending;
    {
        std::lock_guard const lock(mutex_);
        pending.swap(pending_);
    }
    for (auto const& weak : pending) {
        if (auto const operation = weak.lock()) wait(*operation);
    }
}

void File::set_hints(FileHints next) {
    next.disabled = hints.disabled;
    next.durable = hints.durable;
    next.storage = hints.storage;
    next.page_cache = hints.page_cache;
    next.placement = hints.placement;
    hints = next;
}

std::vector<std::pair<std::string, std::string>> File::hints_in_force() const {
    return sluice::hints_in_force(hints, place_.execution_context.limits);
}

void File::blocked(double seconds) {
    std::lock_guard const lock(mutex_);
    statistics_.blocked_seconds += seconds;
}

FileStatistics File::statistics() const {
    std::lock_guard const lock(mutex_);
    FileStatistics all = statistics_;
    all.passed = passed_.load(std::memory_order_relaxed);
    return all;
}

void File::completed(Operation const& operation) {
    std::lock_guard const lock(mutex_);
    Plan const& plan = operation.plan();
    FileStatistics& s = statistics_;
    s.operations += 1;
    (plan.direction == Direction::write ? s.writes : s.reads) += 1;
    s.bytes += operation.bytes();
    s.busy_seconds += std::max(0.0, operation.ended() - std::max(operation.started(), busy_until_));
    busy_until_ = std::max(busy_until_, operation.ended());
    s.tally += operation.tally();
    if (operation.decision().priced) foretell(operation);
    if (settings().log > 1 && !(plan == s.last_plan)) note(name + ": " + describe(plan));
    s.last_plan = plan;
    if (operation.summary_exchange().hints_differ) {
        warn(name + ": hints differ between ranks; those of rank 0 are used");
    }
}

/// Notes how far the cost model was off.
void File::foretell(Operation const& operation) {
    Estimate const& estimate = operation.decision().estimate;
    double const took = operation.ended() - operation.started();
    statistics_.priced.add(estimate.total, took);
    if (!settings().each_operation || team->self != 0) return;
    Tally const& tally = operation.tally();
    char measured[160];
    std::snprintf(measured, sizeof measured,
                  "took %.3g ms: stages before the data %.3g, copies %.3g, messages %.3g, "
                  "storage %.3g",
                  took * 1e3, (tally.summary_exchange + tally.claims + tally.agreement) * 1e3,
                  tally.copies * 1e3, tally.messages * 1e3, tally.transfers * 1e3);
    say(name + ": operation " + std::to_string(operation.number()) + ": " +
        describe(operation.plan().direction) + " " + describe(operation.decision().way) +
        "\n  estimated " + describe(estimate) + "\n  " + measured);
}

void Foretold::add(double estimate, double took) noexcept {
    operations += 1;
    estimated += estimate, measured += took;
    if (estimate <= 0 || took <= 0) return;
    double const ratio = estimate / took;
    if (std::abs(std::log(ratio)) > std::abs(std::log(worst))) worst = ratio;
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

OwnHints::OwnHints(MPI_Info given, FileHints before) : hints(std::move(before)), for_mpi(given) {
    if (given == MPI_INFO_NULL) return;
    for (auto const& one : unknown_hints(names_in(given))) warn("hint " + one.text);
    std::vector<Complaint> complaints;
    hints = read_hints(lookup_in(given), hints, complaints);
    if (complaints.empty()) return;
    PMPI_Info_dup(given, &copy_);
    for_mpi = copy_;
    for (auto const& complaint : complaints) {
        warn("hint " + complaint.text);
        if (complaint.refused) PMPI_Info_delete(copy_, complaint.name.c_str());
    }
}

OwnHints::~OwnHints() {
    if (copy_ != MPI_INFO_NULL) PMPI_Info_free(&copy_);
}

ExactHints::ExactHints(MPI_Info given) {
    copy(given);
    PMPI_Info_set(info_, "romio_ds_write", "disable");
}

ExactHints::ExactHints(MPI_Info given, File const& file) {
    // The last one would turn collective buffering on again.
    constexpr std::pair<char const*, char const*> exact[] = {{"romio_ds_write", "disable"},
                                                             {"romio_cb_write", "disable"},
                                                             {"romio_no_indep_rw", "false"}};
    bool const first = !file.exact;
    if (!first && given == MPI_INFO_NULL) return;
    copy(given);
    for (auto const& [name, value] : exact) {
        int found = 0, length = 0;
        if (first)
            PMPI_Info_set(info_, name, value);
        else if (PMPI_Info_get_valuelen(info_, name, &length, &found) == MPI_SUCCESS && found)
            PMPI_Info_delete(info_, name);
    }
}

void ExactHints::copy(MPI_Info given) {
    if (given == MPI_INFO_NULL)
        PMPI_Info_create(&info_);
    else
        PMPI_Info_dup(given, &info_);
}

ExactHints::~ExactHints() {
    if (info_ != MPI_INFO_NULL) PMPI_Info_free(&info_);
}

namespace {

/// Registers a file to be served and returns null, or returns why the MPI serves it; the same on
/// all ranks. Collective over `communicator`.
char const* serve(MPI_Comm communicator, char const* name, int amode, FileHints hints,
                  MPI_File handle) {
    if (amode & MPI_MODE_SEQUENTIAL) return "it was opened with MPI_MODE_SEQUENTIAL";
    auto const team = Team::of(communicator);
    if (!team) return "its communicator cannot be served, as a warning has said";
    hints = with_engine(hints);
    OwnFile own(names_of(name), amode, hints, *team);
    auto const agreed = agree_at_open(hints, *team, own);
    if (!agreed.served) {
        return hints.disabled ? "the hint sluice says so"
               : own.has_path ? "not every rank holds the same file, as a warning has said"
                              : "its name has the prefix of a driver that POSIX calls do not reach";
    }
    QueuePlace* const place = team->take_queue(
        agreed.placed ? agreed_aggregators(hints.placement, *team) : std::vector<Rank>{});
    if (!place) {
        warn("too many files of one communicator are open: the MPI serves the rest");
        return "too many files of one communicator are open";
    }
    place->set_machine(agreed.machine);
    add_file(std::make_shared<File>(handle, team, *place, std::move(own), amode, hints));
    return nullptr;
}

}  // namespace

void register_file(MPI_Comm communicator, char const* name, int amode, FileHints hints,
                   MPI_File handle) {
    if (!settings().enabled) return;
    char const* const why = serve(communicator, name, amode, hints, handle);
    note_opened();
    if (!why) return note(std::string("serves ") + name);
    note_left_to_mpi(name, why);
    if ((amode & MPI_MODE_SEQUENTIAL) || !Team::of(communicator)) return;
    std::lock_guard const lock(files().mutex);
    files().left_to_mpi.insert(handle);
}

}  // namespace sluice
