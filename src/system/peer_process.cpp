// Memory is read with process_vm_readv, and the end of a process is seen with pidfd_open or /proc.
// See peer_process.hpp.
#include "system/peer_process.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <random>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice {
namespace {

std::uint64_t own_namespace() noexcept {
    struct stat found{};
    return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace

ProcessAddress own_process() noexcept { return {getpid(), own_namespace(), 0, 0}; }

ProcessAddress own_address(std::uint64_t& probe) {
    std::random_device random;
    probe = (std::uint64_t{random()} << 32) | random();
    ProcessAddress own = own_process();
    own.probe = reinterpret_cast<std::uintptr_t>(&probe);
    own.token = probe;
    return own;
}

bool is_readable(ProcessAddress const& peer) noexcept {
    std::uint64_t found = 0;
    auto* const to = reinterpret_cast<std::byte*>(&found);
    return peer.pid > 0 && read_memory(peer, to, peer.probe, sizeof found) == ReadResult::ok &&
           found == peer.token;
}

ReadResult read_memory(ProcessAddress const& peer, std::byte* to, std::uint64_t from,
                       std::size_t bytes) noexcept {
    while (bytes > 0) {
        iovec const here{to, bytes};
        // The number is an address of the other process: here it is never followed.
        iovec const there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(from)),  // NOLINT
                          bytes};
        ssize_t const got = process_vm_readv(static_cast<pid_t>(peer.pid), &here, 1, &there, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 && errno == ESRCH ? ReadResult::gone : ReadResult::refused;
        to += got;
        from += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return ReadResult::ok;
}

/// By number: older C libraries have no function for it.
Descriptor watch_process(std::int64_t process) noexcept {
#ifdef SYS_pidfd_open
    return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0)));
#else
    (void)process;
    errno = ENOSYS;
    return {};
#endif
}

bool has_ended(Descriptor const& watched) noexcept {
    pollfd process{watched.get(), POLLIN, 0};
    return process.fd < 0 || poll(&process, 1, 0) > 0;
}

bool is_gone(ProcessAddress const& peer) noexcept {
    if (peer.pid <= 0 || peer.namespace_ == 0 || peer.namespace_ != own_namespace()) return false;
    auto const pid = static_cast<pid_t>(peer.pid);
    Descriptor const process = watch_process(pid);
    if (process.get() < 0) return errno == ESRCH || (kill(pid, 0) != 0 && errno == ESRCH);
    return has_ended(process);
}

}  // namespace sluice
