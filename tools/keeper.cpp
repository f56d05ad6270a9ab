// The keeper has the rank's journal, and a descriptor of its process to wait for. See keeper.hpp.
#include "tools/keeper.hpp"

#include "storage/journal_claim.hpp"
#include "storage/journal_folder.hpp"
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
};

void tell(ReplayOutcome const& outcome, Kept const& kept) {
    long const rank = launched_rank();
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
                     fate, line.c_str());
    if (!outcome.refused.empty() && !kept.path.empty())
        std::fprintf(stderr,
                     "sluice: %s: when the cause is mended, run `sluice recover` with its folder\n",
                     kept.path.c_str());
}

/// What a launcher ends the other ranks for is the end of one rank's output.
void let_go_of_output() noexcept {
    Descriptor const nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing.get(), fd);
}

/// Where records of other ranks may overlap, those of all ranks, in their order. The keeper of the
/// rank that ends last does it, since it has its output still; another one if that keeper was
/// killed.
ReplayOutcome replay_in_order(MappedJournal const& own) {
    auto const keepers = journal_peers(own.bytes());
    if (keepers.empty()) return replay({&own, 1});
    PeerJournals const peers(keepers);
    bool const is_last = peers.have_ended();
    if (!is_last) {
        let_go_of_output();
        peers.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    peers.lock();
    return replay(peers.mapped());
}

/// A journal in a folder is removed when all of it is in the files for good.
void write_out(Kept const& kept) {
    if (!kept.mapped) return;
    std::atomic_ref(kept.mapped->header().rank_ended).store(1);
    auto const outcome = replay_in_order(*kept.mapped);
    tell(outcome, kept);
    if (!kept.path.empty() && outcome.refused.empty()) unlink(kept.path.c_str());
}

/// All descriptors but its output and two more. A launcher takes a rank for alive while somebody
/// has the socket that connects the two, and it may leave copies of the output.
void close_others(int one, int other) noexcept {
    auto const close_between = [](int first, int last) {
        if (first <= last) syscall(SYS_close_range, first, last, 0);
    };
    auto const [low, high] = std::minmax(one, other);
    close_between(STDERR_FILENO + 1, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, std::numeric_limits<int>::max());
}

/// Until one of two descriptors can be read; whether it is the first. None can never be.
bool first_is_readable(int first, int second) noexcept {
    pollfd two[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
    while (poll(two, 2, -1) < 0 && errno == EINTR) {
    }
    return two[0].revents != 0;
}

/// Until the process has ended that has the journal, or none has it and that has ended which
/// `sluice run` became, which may have started one.
void await_end(JournalHeader& header, int begun) {
    // Never closed: the thread writes to it for as long as this process lives.
    int const changes = eventfd(0, EFD_CLOEXEC);
    std::thread([&header, changes] {
        watch_claims(header, [changes] { eventfd_write(changes, 1); });
    }).detach();
    for (;;) {
        std::uint32_t const owner = owner_of(header);
        Descriptor const rank = owner == 0 ? Descriptor() : watch_process(owner);
        int const watched = owner == 0 ? begun : rank.get();
        bool const has_ended = watched < 0 || first_is_readable(watched, changes);
        if (has_ended && end_claims(header, owner)) return;
        eventfd_t count = 0;
        if (!has_ended) eventfd_read(changes, &count);
    }
}

/// What ends a job must not end its keepers. Its output stays open, so that who started the job
/// does not take it for ended before its bytes are where they belong.
[[noreturn]] void keep(Kept const& kept, int process) {
    setsid();
    close_others(kept.journal.get(), process);
    for (int const signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    await_end(kept.mapped->header(), process);
    write_out(kept);
    note_written(kept.mapped->header());
    _exit(0);
}

/// A grandchild: the program must not find a child that it did not start.
bool fork_away(Kept const& kept, int process) {
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
        JournalFile made = make_journal_file(folder, bytes, launched_rank());
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
    Descriptor const process = watch_process(getpid());
    if (process.get() < 0 || !fork_away(kept, process.get())) {
        if (!kept.path.empty()) unlink(kept.path.c_str());
        return "a process beside the rank: " + errno_text(errno);
    }
    int const inherited = dup(kept.journal.get());  // Without the flag that closes it.
    bool const told =
        inherited >= 0 &&
        setenv("SLUICE_KEEPER", told_journal(inherited, kept.mapped->header()).c_str(), 1) == 0;
    return told ? std::string() : "a descriptor: " + errno_text(errno);
}

}  // namespace sluice
