// How parts are locked, written and moved. See part_file.hpp.
#include "system/part_file.hpp"

#include "system/errno_status.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace sluice {
namespace {

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
    for (std::uint64_t at = 0;;) {
        std::size_t const got = read_at(from, memory.get(), piece, at);
        if (got == 0) return true;
        if (!write_all(to, {memory.get(), got})) return false;
        at += got;
    }
}

}  // namespace

bool write_all(int fd, std::string_view bytes, std::int64_t offset) {
    while (!bytes.empty()) {
        ssize_t const done = offset < 0 ? ::write(fd, bytes.data(), bytes.size())
                                        : pwrite(fd, bytes.data(), bytes.size(), offset);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(done));
        if (offset >= 0) offset += done;
    }
    return true;
}

std::size_t read_at(int fd, void* into, std::size_t bytes, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t const got = pread(fd, static_cast<char*>(into) + done, bytes - done,
                                  static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

bool is_free_for(PartKind const& kind, std::string const& path) {
    Descriptor const there(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (there.get() < 0) return errno != EACCES;  // All else is told when it is written.
    char first = 0;
    return read_at(there.get(), &first, 1, 0) == 0 ||
           std::ranges::any_of(kind.file_starts,
                               [&](auto start) { return begins_with(there.get(), start); });
}

std::string PartFile::open(std::string const& file, std::int64_t rank) {
    file_ = file;
    rank_ = rank;
    if (!is_free_for(*kind_, file_)) return file_ + " is no " + kind_->name + ", and is left alone";
    std::string why;
    Descriptor part = folder().open(rank, why);
    if (part.get() < 0) return why;
    if (flock(part.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return "another job records into " + file_;
    if (ftruncate(part.get(), 0) != 0) return with_errno("cannot write " + folder().path_of(rank_));
    fd_ = std::move(part);
    return {};
}

std::string PartFile::clear_others() {
    if (unlink(file_.c_str()) != 0 && errno != ENOENT) return with_errno("cannot remove " + file_);
    folder().remove_parts(rank_);
    return {};
}

void PartFile::discard() {
    folder().remove(std::to_string(rank_));
    fd_ = Descriptor();
}

std::string PartFile::put(std::string_view bytes, std::uint64_t at) {
    if (write_all(fd_.get(), bytes, static_cast<std::int64_t>(at))) return {};
    return with_errno("cannot write " + folder().path_of(rank_));
}

std::string PartFile::append(std::string_view bytes) {
    std::string why;
    while (!bytes.empty() && why.empty()) {
        std::uint64_t const place = layout_.ring ? appended_ % layout_.ring : appended_;
        std::uint64_t const room = layout_.ring ? layout_.ring - place : bytes.size();
        std::string_view const next = bytes.substr(0, room);
        why = put(next, layout_.head + place);
        appended_ += next.size();
        bytes.remove_prefix(next.size());
    }
    return why;
}

std::string PartFile::move_into_file() {
    constexpr int how = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    Descriptor const file(::open(file_.c_str(), how, 0600));
    if (file.get() < 0) return with_errno("cannot write " + file_);
    if (!lock_patiently(file.get())) return with_errno("cannot lock " + file_);
    off_t const before = lseek(file.get(), 0, SEEK_END);
    if (!copy_whole(fd_.get(), file.get())) {
        std::string why = with_errno("cannot write " + file_);
        if (before >= 0 && ftruncate(file.get(), before) != 0) why += ", which is damaged";
        return why;
    }
    discard();
    return {};
}

}  // namespace sluice
