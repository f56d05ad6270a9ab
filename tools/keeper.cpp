// The keeper has the rank's journal, and a descriptor of its process to wait for. See keeper.hpp.
#include "tools/keeper.hpp"

#include "storage/journal_folder.hpp"
#include "system/errno_status.hpp"
#include "system/launcher.hpp"
#include "tools/replay.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Until the process has ended.
void wait_for(int process) noexcept {
    pollfd ended{process, POLLIN, 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
}

/// What the rank has delayed, and where that lies.
struct Kept {
    Descriptor journal;
    std::string path;  ///< Empty: in memory.
};

void tell(ReplayOutcome const& outcome, Kept const& kept) {
    long const rank = launched_rank();
    if (outcome.writes > 0)
        std::fprintf(
            stderr,
            "sluice: rank %ld ended with delayed writes; its keeper has written them: %lld "
            "writes, %.1f MiB\n",
            rank, static_cast<long long>(outcome.writes),
            static_cast<double>(outcome.bytes) / (1 << 20));
    char const* const fate = kept.path.empty() ? "is lost" : "stays in its journal";
    for (std::string const& line : outcome.refused)
        std::fprintf(stderr, "sluice: rank %ld ended with a delayed write that %s: %s\n", rank,
                     fate, line.c_str());
    if (!outcome.refused.empty() && !kept.path.empty())
        std::fprintf(stderr,
                     "sluice: %s: when the cause is mended, run `sluice recover` with its folder\n",
                     kept.path.c_str());
}

/// A journal in a folder is removed when all of it is in the files for good.
void write_out(Kept const& kept) {
    auto const journal = MappedJournal::of(kept.journal.get());
    if (!journal) return;
    auto const outcome = replay({&*journal, 1});
    tell(outcome, kept);
    if (!kept.path.empty() && outcome.refused.empty()) unlink(kept.path.c_str());
}

/// What ends a job must not end its keepers. Its output stays open, so that who started the job
/// does not take it for ended before its bytes are where they belong.
[[noreturn]] void keep(Kept const& kept, int process) {
    setsid();
    for (int const signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    wait_for(process);
    write_out(kept);
    _exit(0);
}

/// A grandchild: the program must not find a child that it did not start.
bool fork_away(Kept const& kept, int process) {
    pid_t const child = fork();
    if (child < 0) return false;
    if (child == 0) {
        pid_t const keeper = fork();
        if (keeper == 0) keep(kept, process);
        _exit(keeper < 0 ? 1 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Where the rank will delay writes; `why` says why there is no such place.
Kept make_journal(Bytes bytes, std::string const& folder, std::string& why) {
    if (!folder.empty()) {
        JournalFile made = make_journal_file(folder, bytes, launched_rank());
        if (made.error) why = made.error.what + (": " + errno_text(made.error.code));
        return {std::move(made.descriptor), made.path};
    }
    Kept kept{Descriptor(memfd_create("sluice-journal", MFD_CLOEXEC)), ""};
    if (kept.journal.get() < 0 || ftruncate(kept.journal.get(), bytes) != 0)
        why = "memory: " + errno_text(errno);
    return kept;
}

}  // namespace

/// The program inherits the journal, and nothing else of all this.
std::string start_keeper(Bytes bytes, std::string const& folder) {
    std::string why;
    Kept const kept = make_journal(bytes, folder, why);
    if (!why.empty()) return why;
    Descriptor const process(
        static_cast<int>(syscall(SYS_pidfd_open, static_cast<long>(getpid()), 0L)));
    if (process.get() < 0 || !fork_away(kept, process.get())) {
        if (!kept.path.empty()) unlink(kept.path.c_str());
        return "a process beside the rank: " + errno_text(errno);
    }
    int const inherited = dup(kept.journal.get());  // Without the flag that closes it.
    bool const told =
        inherited >= 0 && setenv("SLUICE_KEEPER", std::to_string(inherited).c_str(), 1) == 0;
    return told ? std::string() : "a descriptor: " + errno_text(errno);
}

}  // namespace sluice
