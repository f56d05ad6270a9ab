// The keeper has the rank's journal, and a descriptor of its process to wait for. See keeper.hpp.
#include "tools/keeper.hpp"

#include "system/descriptor.hpp"
#include "system/launcher.hpp"
#include "system/mapping.hpp"
#include "tools/replay.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
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

void write_out(int journal, Bytes bytes) {
    auto const mapping = Mapping::of(journal, {0, bytes});
    if (!mapping || !mapping->open({0, bytes})) return;
    auto const outcome = replay({mapping->data(), static_cast<std::size_t>(bytes)});
    long const rank = launched_rank();
    if (outcome.writes > 0)
        std::fprintf(
            stderr,
            "sluice: rank %ld ended with delayed writes; its keeper has written them: %lld "
            "writes, %.1f MiB\n",
            rank, static_cast<long long>(outcome.writes),
            static_cast<double>(outcome.bytes) / (1 << 20));
    for (std::string const& line : outcome.refused)
        std::fprintf(stderr, "sluice: rank %ld ended with a delayed write that is lost: %s\n", rank,
                     line.c_str());
}

/// What ends a job must not end its keepers. Its output stays open, so that who started the job
/// does not take it for ended before its bytes are where they belong.
[[noreturn]] void keep(int journal, int process, Bytes bytes) {
    setsid();
    for (int const signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    wait_for(process);
    write_out(journal, bytes);
    _exit(0);
}

/// A grandchild: the program must not find a child that it did not start.
bool fork_away(int journal, int process, Bytes bytes) {
    pid_t const child = fork();
    if (child < 0) return false;
    if (child == 0) {
        pid_t const keeper = fork();
        if (keeper == 0) keep(journal, process, bytes);
        _exit(keeper < 0 ? 1 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

/// The program inherits the journal, and nothing else of all this.
bool start_keeper(Bytes bytes) {
    int const journal = memfd_create("sluice-journal", 0);
    if (journal < 0) return false;
    Descriptor const process(
        static_cast<int>(syscall(SYS_pidfd_open, static_cast<long>(getpid()), 0L)));
    bool const kept = process.get() >= 0 && ftruncate(journal, bytes) == 0 &&
                      fork_away(journal, process.get(), bytes);
    if (!kept) {
        close(journal);
        return false;
    }
    return setenv("SLUICE_KEEPER", std::to_string(journal).c_str(), 1) == 0;
}

}  // namespace sluice
