// The moment at which a rank of kills_program ends by SIGKILL: after it has come N times to a
// place, and some microseconds later. Places are those that the program names, and two that are
// found by defining what the libraries call: `storage` and `message`, calls on files and on
// sockets of the network.
#pragma once
#include "kills_record.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace kills {

inline std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// PLACE:N:MICROSECONDS
class Moment {
public:
    /// From here on places count; only the rank that is to be killed says so.
    void begin(char const* words, Record* record) {
        char place[32] = {};
        if (std::sscanf(words, "%31[^:]:%d:%d", place, &times_, &microseconds_) != 3) std::abort();
        place_ = place;
        record_ = record;
        is_counting_ = true;
    }
    void reach(char const* place) {
        if (is_counting_ && place_ == place && ++reached_ == times_) end();
    }
    /// The kernel ends the process, whatever it does then.
    void end() {
        is_counting_ = false;
        record_->killed_at = now() + std::int64_t(microseconds_) * 1000;
        if (microseconds_ == 0) kill(getpid(), SIGKILL);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGKILL;
        timer_t timer{};
        itimerspec time{};
        time.it_value.tv_sec = microseconds_ / 1'000'000;
        time.it_value.tv_nsec = long(microseconds_ % 1'000'000) * 1000;
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
            timer_settime(timer, 0, &time, nullptr) != 0)
            std::abort();
    }

private:
    std::string place_;
    int times_ = 0, microseconds_ = 0;
    Record* record_ = nullptr;
    std::atomic<bool> is_counting_{false};
    std::atomic<int> reached_{0};
};

inline Moment moment;

inline bool is_on_network(int fd) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
           (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

inline void reach_message(int fd) {
    int const kept = errno;
    if (is_on_network(fd)) moment.reach("message");
    errno = kept;
}

}  // namespace kills

extern "C" {
// What the libraries call; the program's are found before those of the C library.
ssize_t pwritev(int fd, iovec const* vectors, int count, off_t offset) {
    kills::moment.reach("storage");
    return syscall(SYS_pwritev, fd, vectors, count, offset, 0);
}
ssize_t pwritev64(int fd, iovec const* vectors, int count, off64_t offset) {
    return pwritev(fd, vectors, count, offset);
}
ssize_t pwrite(int fd, void const* bytes, size_t count, off_t offset) {
    kills::moment.reach("storage");
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, void const* bytes, size_t count, off64_t offset) {
    return pwrite(fd, bytes, count, offset);
}
ssize_t preadv(int fd, iovec const* vectors, int count, off_t offset) {
    kills::moment.reach("storage");
    return syscall(SYS_preadv, fd, vectors, count, offset, 0);
}
ssize_t preadv64(int fd, iovec const* vectors, int count, off64_t offset) {
    return preadv(fd, vectors, count, offset);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
    kills::moment.reach("storage");
    return syscall(SYS_pread64, fd, bytes, count, offset);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
    return pread(fd, bytes, count, offset);
}
ssize_t send(int fd, void const* bytes, size_t count, int flags) {
    kills::reach_message(fd);
    return syscall(SYS_sendto, fd, bytes, count, flags, nullptr, 0);
}
ssize_t sendmsg(int fd, msghdr const* message, int flags) {
    kills::reach_message(fd);
    return syscall(SYS_sendmsg, fd, message, flags);
}
ssize_t writev(int fd, iovec const* vectors, int count) {
    kills::reach_message(fd);
    return syscall(SYS_writev, fd, vectors, count);
}
}
