// How parts are locked, written and moved. See part_file.hpp.
#include "record/part_file.hpp"

#include "record/line.hpp"
#include "system/errno_status.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace sluice::record {
namespace {

constexpr mode_t readable = 0644;

std::string failed(std::string const& what) { return what + ": " + errno_text(errno); }

bool write_all(int fd, char const* from, std::size_t bytes) {
    while (bytes > 0) {
        ssize_t const done = ::write(fd, from, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return true;
}

using Start = std::array<char, signature.size()>;

/// Whether the file begins as each part of a log does.
bool is_part(int fd) {
    Start start{};
    return pread(fd, start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
           std::string_view(start.data(), start.size()) == signature;
}

/// Whether the file may be removed: it is empty, or a log.
bool is_log(int fd) {
    Start start{};
    ssize_t const got = pread(fd, start.data(), start.size(), 0);
    bool const packed = got >= 2 && start[0] == '\x1f' && start[1] == '\x8b';
    return got == 0 || packed || is_part(fd);
}

/// Another rank holds it while it moves its part: some milliseconds, or seconds of a full system.
bool lock_patiently(int fd) {
    using namespace std::chrono_literals;
    auto const until = std::chrono::steady_clock::now() + 30s;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

bool copy_whole(int from, int to) {
    constexpr std::size_t piece = std::size_t{256} << 10;
    auto const memory = std::make_unique_for_overwrite<char[]>(piece);
    for (off_t at = 0;;) {
        ssize_t const got = pread(from, memory.get(), piece, at);
        if (got <= 0) return got == 0;
        if (!write_all(to, memory.get(), static_cast<std::size_t>(got))) return false;
        at += got;
    }
}

}  // namespace

PartsFolder log_parts(std::string const& log) { return {log, is_part}; }

std::string PartFile::open(std::string const& log, std::int64_t rank) {
    log_ = log;
    rank_ = rank;
    Descriptor const old(::open(log_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (old.get() >= 0 && !is_log(old.get())) return log_ + " is no log, and is left alone";
    std::string why;
    fd_ = log_parts(log_).open(rank, why);
    if (fd_.get() < 0) return why;
    if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        fd_ = Descriptor();
        return "another job records into " + log;
    }
    if (ftruncate(fd_.get(), 0) == 0) return {};
    fd_ = Descriptor();
    return failed("cannot write " + log_parts(log_).path_of(rank_));
}

std::string PartFile::clear_others() {
    if (unlink(log_.c_str()) != 0 && errno != ENOENT) return failed("cannot remove " + log_);
    log_parts(log_).remove_parts(rank_);
    return {};
}

std::string PartFile::write(std::string const& text) {
    if (write_all(fd_.get(), text.data(), text.size())) return {};
    return failed("cannot write " + log_parts(log_).path_of(rank_));
}

std::string PartFile::move_into_log() {
    constexpr int how = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    Descriptor const log(::open(log_.c_str(), how, readable));
    if (log.get() < 0) return failed("cannot write " + log_);
    if (!lock_patiently(log.get())) return failed("cannot lock " + log_);
    off_t const before = lseek(log.get(), 0, SEEK_END);
    if (!copy_whole(fd_.get(), log.get())) {
        std::string why = failed("cannot write " + log_);
        if (before >= 0 && ftruncate(log.get(), before) != 0) why += ", which is damaged";
        return why;
    }
    log_parts(log_).remove(std::to_string(rank_));
    fd_ = Descriptor();
    return {};
}

}  // namespace sluice::record
