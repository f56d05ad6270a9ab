// One journal for all files of the process. See rank_journal.hpp.
#include "mpi/behind/rank_journal.hpp"

#include "behind/checkpointer.hpp"
#include "behind/journal_claim.hpp"
#include "behind/journal_folder.hpp"
#include "behind/journal_peers.hpp"
#include "behind/keeper_line.hpp"
#include "mpi/communicator/rank_watch.hpp"
#include "mpi/errors.hpp"
#include "mpi/progress/progress.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

struct RankJournal {
    JournalFile file;                  ///< Without a keeper, which removes its own.
    std::shared_ptr<Journal> journal;  ///< Null at the end of MPI.
    bool is_claimed = false;           ///< It has a keeper.
    bool is_refused = false;  ///< There would be a keeper, but this process has none of it.
    KeeperLine line;
    std::mutex handed_mutex;                     ///< Guards the field below.
    std::map<FileIdentity, int> handed;          ///< How often each file is wanted by the keeper.
    std::unique_ptr<Checkpointer> checkpointer;  ///< Of a durable one.
};

/// Null until a file wants it.
std::atomic<RankJournal*> rank_journal_made{nullptr};

RankJournal* durable_journal() noexcept {
    RankJournal* const made = rank_journal_made;
    return made && made->checkpointer ? made : nullptr;
}

/// An error is told where it happens; the program gets it from the call that asks for it.
Error checkpoint_of(Journal& journal) {
    bool const was_well = !journal.failure();
    Error const error = journal.checkpoint();
    if (error && was_well)
        log_error("a checkpoint of the delayed writes, of which none are taken any more", error);
    Progress::instance().ring();
    return error;
}

/// One rank of each node speaks for its folder.
void tell_of_folder(std::string const& text) {
    if (text.empty()) return;
    long const place = launched().rank_of_node;
    if (place < 0 ? world_rank() == 0 : place == 0) warn(text, true);
}

/// The keeper's, where there is one. Processes that this one starts must not look for it.
void claim_inherited(RankJournal& own) {
    auto const claimed = claim_journal(std::getenv("SLUICE_KEEPER"));
    unsetenv("SLUICE_KEEPER");
    struct stat about{};
    if (claimed.fd >= 0 && fstat(claimed.fd, &about) == 0) {
        fcntl(claimed.fd, F_SETFD, FD_CLOEXEC);
        auto effects = wants_durable_journal() ? device_effects(claimed.fd) : JournalEffects{};
        own.journal = Journal::create(claimed.fd, about.st_size, std::move(effects));
        own.is_claimed = own.journal != nullptr;
        own.line = KeeperLine(claimed.line);
        if (auto const& marks = marks_of_node()) (void)own.line.give_marks({}, marks->descriptor());
    }
    own.is_refused = !claimed.why.empty() && !wants_durable_journal();
    if (own.is_refused) warn("no write of this process is delayed: " + claimed.why, true);
}

/// Ranks of which nothing is known may be on other nodes. A process without a launcher is alone.
bool is_one_node() {
    int has_world = 0, ranks = 0;
    Launch const launch = launched();
    if (launch.ranks > 0) return launch.ranks == launch.ranks_of_node;
    PMPI_Initialized(&has_world);
    return has_world && PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS && ranks == 1;
}

std::shared_ptr<MarkTable>& only_marks_of_node() {
    static auto* const only =
        new std::shared_ptr<MarkTable>(is_one_node() ? MarkTable::of_node() : nullptr);
    return *only;
}

void make_own(RankJournal& own, Bytes bytes) {
    std::string const& folder = settings().journal_folder;
    tell_of_folder(left_journals_in_words(folder));
    own.file = make_journal_file(folder, journal_bytes_for(bytes), world_rank());
    int const fd = own.file.descriptor.get();
    if (!own.file.error)
        own.journal = Journal::create(fd, journal_bytes_for(bytes), device_effects(fd));
    if (own.journal) return;
    std::string const text = "SLUICE_WRITE_BEHIND: no journal can be made in " + folder + ": " +
                             describe(own.file.error) + "; no write is delayed";
    if (own.file.error.status == Status::no_space)
        warn(text, true);  // Other ranks may have found room.
    else
        tell_of_folder(text);
}

RankJournal* make_rank_journal(Bytes rank_bytes) {
    auto* const own = new RankJournal;
    claim_inherited(*own);
    if (!own->journal && wants_durable_journal()) make_own(*own, rank_bytes);
    if (own->journal && own->journal->is_durable())
        own->checkpointer = std::make_unique<Checkpointer>(
            own->journal, [own] { (void)checkpoint_of(*own->journal); });
    rank_journal_made = own;
    RankWatch::before_going_on(await_keepers_of_the_dead);
    return own;
}

}  // namespace

bool delays_without_journal() {
    RankJournal const* const own = rank_journal_made;
    return !wants_durable_journal() && !(own && own->is_refused);
}

bool wants_durable_journal() { return !settings().journal_folder.empty(); }

std::shared_ptr<MarkTable> const& marks_of_node() { return only_marks_of_node(); }

std::shared_ptr<void> hand_over(FileIdentity const& file, int fd, int marks) {
    RankJournal* const own = rank_journal_made;
    if (!own || !own->is_claimed) return nullptr;
    std::lock_guard const lock(own->handed_mutex);
    if (own->handed[file] == 0 && !own->line.give_file(file, fd)) return nullptr;
    if (marks >= 0) (void)own->line.give_marks(file, marks);
    ++own->handed[file];
    return {own, [file](RankJournal* journal) {
                std::lock_guard const guard(journal->handed_mutex);
                if (--journal->handed[file] > 0) return;
                journal->handed.erase(file);
                journal->line.take_back(file);
            }};
}

void await_keepers_of_the_dead() {
    RankJournal* const own = rank_journal_made;
    if (own && own->journal) own->journal->await_keepers_of_the_dead();
}

/// Each of them notices by itself that a rank was lost, and writes its own part then.
void await_records_of_peers(std::function<void()> const& poke) {
    RankJournal* const own = rank_journal_made;
    if (!own || !own->journal || !own->journal->goes_on()) return;
    RecordsOfPeers const records(own->journal->peers(), own->journal->as_peer());
    Progress::instance().drive({.mpi_done = [&] { return !records.any(); },
                                .mpi_often = true,
                                .poke = poke,
                                .reason = TraceWait::other_writer});
}

std::shared_ptr<Journal> const& journal_of_rank(Bytes rank_bytes) {
    static RankJournal const* const only = make_rank_journal(rank_bytes);
    return only->journal;
}

void expect_checkpoint() {
    if (auto* const own = durable_journal()) own->checkpointer->wake();
}

void ask_for_checkpoint() {
    if (auto* const own = durable_journal()) own->checkpointer->ask();
}

/// The calling thread makes checkpoints itself. The helper moves on what is not in its file yet.
Error wait_for_own_journal(FileIdentity const& file, Span reach,
                           std::function<void()> const& poke) {
    auto* const own = durable_journal();
    if (!own) return {};
    Journal& journal = *own->journal;
    auto const is_void = [&] { return !journal.holds(file, reach); };
    while (!is_void()) {
        if (journal.has_given_up()) return journal.failure();
        if (journal.is_due())
            (void)checkpoint_of(journal);
        else
            Progress::instance().drive(
                {.done = [&] { return journal.is_due() || is_void(); }, .poke = poke});
    }
    return {};
}

bool own_journal_needs(FileIdentity const& file, std::uint64_t below) {
    auto const* const own = durable_journal();
    return own && !own->journal->has_given_up() && own->journal->holds(file, {0, endless}, below);
}

void clear_own_journal(FileIdentity const& file, Span reach, std::function<void()> const& poke) {
    if (wait_for_own_journal(file, reach, poke)) durable_journal()->journal->withdraw(file, reach);
}

/// What was written over may have been more than what could not be made durable.
Error error_of_own_journal(FileIdentity const& file, std::function<void()> const& poke) {
    auto* const own = durable_journal();
    if (!own) return {};
    Error const error = wait_for_own_journal(file, {0, endless}, poke);
    bool const untold = own->journal->take_untold(file);
    return untold ? own->journal->failure() : error;
}

std::uint64_t next_record() {
    auto const* const own = durable_journal();
    return own ? own->journal->next_number() : 0;
}

void withdraw_overwritten(FileIdentity const& file, Span reach, std::uint64_t below) {
    auto* const own = durable_journal();
    if (own && own->journal->has_given_up()) own->journal->withdraw(file, reach, below);
}

void end_marks_of_node() { only_marks_of_node().reset(); }

/// A journal that the keeper has is the keeper's to remove.
void end_rank_journal() {
    RankJournal* const own = rank_journal_made;
    if (!own || !own->journal) return;
    own->checkpointer.reset();
    auto const journal = std::exchange(own->journal, nullptr);
    own->is_refused = true;
    if (journal->is_due()) (void)checkpoint_of(*journal);
    if (own->is_claimed) journal->release();
    if (own->file.path.empty()) return;
    if (journal->is_empty())
        unlink(own->file.path.c_str());
    else
        warn("delayed writes could not be made durable in their files; they stay in " +
                 own->file.path + ": when the cause is mended, run `sluice recover " +
                 settings().journal_folder + "`",
             true);
}

}  // namespace sluice
