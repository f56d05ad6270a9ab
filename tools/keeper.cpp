// The keeper has the rank's journal, and a descriptor of its process to wait for. See keeper.hpp.
#include "tools/keeper.hpp"

#include "base/printable.hpp"
#include "behind/journal_claim.hpp"
#include "behind/journal_folder.hpp"
#include "behind/keeper_line.hpp"
#include "behind/unfinished_marks.hpp"
#include "system/errno_status.hpp"
#include "system/launcher.hpp"
#include "system/peer_process.hpp"
#include "system/random.hpp"
#include "tools/peer_journals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sluice {
namespace {

/// What the rank has delayed, and where that lies.
struct Kept {
    Descriptor journal;
    std::string path;  ///< Empty: in memory.
    std::optional<MappedJournal> mapped = {};
    HandedOver handed{Descriptor()};
};

void tell(ReplayOutcome const& outcome, Kept const& kept) {
    long const rank = launched().rank;
    if (outcome.writes > 0)
        std::fprintf(
            stderr,
            "sluice: %s ended with delayed writes; the keeper of rank %ld has written them: %lld "
            "writes, %.1f MiB\n",
            outcome.journals > 1 ? "the ranks of this node" : "a rank", rank,
            static_cast<long long>(outcome.writes), static_cast<double>(outcome.bytes) / (1 << 20));
    char const* const fate = kept.path.empty() ? "is lost" : "stays in its journal";
    for (std::string const& line : outcome.refused)
        std::fprintf(stderr, "sluice: rank %ld ended with a delayed write that %s: %s\n", rank,
                     fate, printable(line).c_str());
    if (!outcome.refused.empty() && !kept.path.empty())
        std::fprintf(stderr,
                     "sluice: %s: when the cause is mended, run `sluice recover` with its folder\n",
                     printable(kept.path).c_str());
}

/// What a launcher ends the other ranks for is the end of one rank's output.
void let_go_of_output() noexcept {
    Descriptor const nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing.get(), fd);
}

ReplayRules rules_of(Kept const& kept, std::function<bool(JournalRecord const&)> chooses = {}) {
    return {.given = [&kept](FileIdentity const& file) { return kept.handed.file(file); },
            .chooses = std::move(chooses)};
}

/// What the rank had delayed together with others, whose records may overlap with its own. The
/// keeper of the rank that ends last writes those of all of them, since it has its output still;
/// another one if that keeper was killed.
ReplayOutcome replay_with_peers(Kept& kept, std::span<JournalPeer const> ranks) {
    PeerJournals peers(ranks);
    if (!peers.may_write()) {
        let_go_of_output();
        // Who writes takes a lease of the files, for which nobody else may have them.
        kept.handed.close_files();
        peers.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    peers.lock();
    auto const ended = peers.take_ended();
    return replay(ended, rules_of(kept));
}

/// Marks have kept others from the bytes that the rank had delayed by itself. They wait no longer
/// than for this.
void write_marked(Kept& kept) {
    auto const is_marked = [](JournalRecord const& record) { return record.stamp == 0; };
    bool const knows_peers = !journal_peers(kept.mapped->bytes()).empty();
    auto const rules = knows_peers ? rules_of(kept, is_marked) : rules_of(kept);
    tell(replay({&*kept.mapped, 1}, rules), kept);
    kept.handed.end_marks();
}

/// A journal in a folder is removed when all of it is in the files for good.
void write_out(Kept& kept) {
    if (!kept.mapped) return;
    auto const table = MarkTable::of_node();
    if (table) (void)table->hold(UnfinishedMarks::of_keepers);  // See `sluice recover --wait`.
    kept.handed.take();
    write_marked(kept);
    // Other keepers may write the rest.
    std::atomic_ref(kept.mapped->header().rank_ended).store(1);
    auto const peers = journal_peers(kept.mapped->bytes());
    if (!peers.empty()) tell(replay_with_peers(kept, peers), kept);
    bool const is_empty = records_of(kept.mapped->bytes()).empty();
    if (!kept.path.empty() && is_empty) unlink(kept.path.c_str());
}

/// All descriptors but its output and these. A launcher takes a rank for alive while somebody has
/// the socket that connects the two, and it may leave copies of the output.
void close_others(std::vector<int> kept) noexcept {
    std::ranges::sort(kept);
    int first = STDERR_FILENO + 1;
    auto const close_until = [&](int last) {
        if (first <= last) syscall(SYS_close_range, first, last, 0);
    };
    for (int const fd : kept) {
        close_until(fd - 1);
        first = std::max(first, fd + 1);
    }
    close_until(std::numeric_limits<int>::max());
}

/// What wakes a keeper.
struct Events {
    int rank, claims;  ///< A process; an event. None can never be.
    HandedOver& handed;
};

/// Until the rank has ended, or the journal has another owner: whether it is the first.
bool rank_ends(Events const& events) {
    for (;;) {
        pollfd all[] = {{events.rank, POLLIN, 0},
                        {events.claims, POLLIN, 0},
                        {events.handed.socket(), POLLIN, 0}};
        if (poll(all, std::size(all), -1) < 0) continue;
        if (all[2].revents) events.handed.take();
        if (all[0].revents) return true;
        if (all[1].revents) return false;
    }
}

/// Until the process has ended that has the journal, or none has it and that has ended which
/// `sluice run` became, which may have started one.
void await_end(Kept& kept, int begun) {
    JournalHeader& header = kept.mapped->header();
    // Never closed: the thread writes to it for as long as this process lives.
    int const changes = eventfd(0, EFD_CLOEXEC);
    std::thread([&header, changes] {
        watch_claims(header, [changes] { eventfd_write(changes, 1); });
    }).detach();
    for (;;) {
        std::uint32_t const owner = owner_of(header);
        Descriptor const rank = owner == 0 ? Descriptor() : watch_process(owner);
        int const watched = owner == 0 ? begun : rank.get();
        bool const has_ended = watched < 0 || rank_ends({watched, changes, kept.handed});
        if (has_ended && end_claims(header, owner)) return;
        eventfd_t count = 0;
        if (!has_ended) eventfd_read(changes, &count);
    }
}

/// What ends a job must not end its keepers. Its output stays open, so that who started the job
/// does not take it for ended before its bytes are where they belong.
[[noreturn]] void keep(Kept& kept, int process) {
    setsid();
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {  // It has each file of the rank.
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    close_others({kept.journal.get(), process, kept.handed.socket()});
    for (int const signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    await_end(kept, process);
    write_out(kept);
    note_written(kept.mapped->header());
    _exit(0);
}

/// A grandchild: the program must not find a child that it did not start.
bool fork_away(Kept& kept, int process) {
    pid_t const child = fork();
    if (child < 0) return false;
    if (child == 0) {
        pid_t const keeper = fork();
        if (keeper == 0) keep(kept, process);
        JournalKeeper& own = kept.mapped->header().keeper;
        if (keeper > 0) own.process = keeper;
        _exit(keeper < 0 ? 1 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Zeros are no journal yet.
bool begin_journal(int fd) {
    JournalHeader header;
    format_journal(std::as_writable_bytes(std::span(&header, 1)), {}, false);
    return pwrite(fd, &header, sizeof header, 0) == sizeof header;
}

/// How it is known: to the process that claims it, and to the keepers of other ranks.
void name_journal(JournalHeader& header, int fd) {
    SystemRandom random;
    std::uint64_t const otherwise = static_cast<std::uint64_t>(getpid()) << 32U | 1U;
    header.keeper = {.process = 0, .descriptor = fd, .name = random().value_or(otherwise)};
    header.process_namespace = own_process().namespace_;
}

/// Where the rank will delay writes; `why` says why there is no such place.
Kept make_journal(Bytes bytes, std::string const& folder, std::string& why) {
    if (!folder.empty()) {
        JournalFile made = make_journal_file(folder, bytes, launched().rank);
        if (made.error) why = made.error.what + (": " + errno_text(made.error.code));
        return {std::move(made.descriptor), made.path, {}};
    }
    Kept kept{Descriptor(memfd_create("sluice-journal", MFD_CLOEXEC)), "", {}};
    int const fd = kept.journal.get();
    int const refused = fd < 0 ? errno : set_length(fd, bytes);
    if (refused != 0 || !begin_journal(fd))
        why = "memory: " + errno_text(refused != 0 ? refused : errno);
    return kept;
}

}  // namespace

/// The program inherits the journal, and nothing else of all this.
std::string start_keeper(Bytes bytes, std::string const& folder) {
    std::string why;
    Kept kept = make_journal(bytes, folder, why);
    if (!why.empty()) return why;
    kept.mapped = MappedJournal::of(kept.journal.get());
    if (!kept.mapped) return "memory: " + errno_text(errno);
    name_journal(kept.mapped->header(), kept.journal.get());
    auto [line, ranks_line] = new_keeper_line();
    kept.handed = HandedOver(std::move(line));
    Descriptor const process = watch_process(getpid());
    if (process.get() < 0 || !fork_away(kept, process.get())) {
        if (!kept.path.empty()) unlink(kept.path.c_str());
        return "a process beside the rank: " + errno_text(errno);
    }
    // Without the flag that closes them.
    int const inherited = dup(kept.journal.get()), ranks_end = dup(ranks_line.get());
    std::string const text = told_journal(inherited, kept.mapped->header(), ranks_end);
    bool const told = inherited >= 0 && setenv("SLUICE_KEEPER", text.c_str(), 1) == 0;
    return told ? std::string() : "a descriptor: " + errno_text(errno);
}

}  // namespace sluice
