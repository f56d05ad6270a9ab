// Marks are read locks of open file descriptions. See unfinished_marks.hpp.
#include "behind/unfinished_marks.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <new>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Of the node's table: a file has as many bytes of it, from a multiple of them on.
constexpr int place_bits = 45;
constexpr Offset places = UnfinishedMarks::of_calls >> place_bits;
/// Everybody who has the node's table has a lock of its last byte.
constexpr Span presence{std::numeric_limits<Offset>::max() - 1, std::numeric_limits<Offset>::max()};

bool ask(int fd, int how, Span range, short& type) noexcept {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = range.begin;
    lock.l_len = range.bytes();
    while (fcntl(fd, how, &lock) != 0) {
        if (errno != EINTR) return false;
    }
    type = lock.l_type;
    return true;
}

bool set(int fd, Span range, short type) noexcept { return ask(fd, F_OFD_SETLK, range, type); }

std::string path_in(std::string const& folder) {
    return folder + "/sluice-marks-" + std::to_string(geteuid());
}

bool is_own(int fd) noexcept {
    struct stat about{};
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Whether the name still leads to this file: its last user may just have removed it.
bool is_at(int fd, std::string const& path) noexcept {
    struct stat by_name{}, by_descriptor{};
    return lstat(path.c_str(), &by_name) == 0 && fstat(fd, &by_descriptor) == 0 &&
           by_name.st_dev == by_descriptor.st_dev && by_name.st_ino == by_descriptor.st_ino;
}

/// Present in the table that has the name.
Descriptor open_table(std::string const& path) noexcept {
    constexpr int how = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    constexpr int tries = 1000;
    for (int i = 0; i < tries; ++i) {
        Descriptor table(::open(path.c_str(), how, S_IRUSR | S_IWUSR));
        if (table.get() < 0 || !is_own(table.get())) return {};
        if (set(table.get(), presence, F_RDLCK) && is_at(table.get(), path)) return table;
        usleep(1);  // Somebody removes it.
    }
    return {};
}

void remove_if_last(int fd, std::string const& path) noexcept {
    if (set(fd, presence, F_WRLCK) && is_at(fd, path)) unlink(path.c_str());
    set(fd, presence, F_UNLCK);
}

/// A child that this process forks, and that starts no other program, would keep its marks.
std::atomic<int> not_for_children{-1};

void keep_from_children(int fd) noexcept {
    static bool const once = [] {
        return pthread_atfork(nullptr, nullptr, [] {
                   if (int const had = not_for_children.exchange(-1); had >= 0) close(had);
               }) == 0;
    }();
    if (once) not_for_children = fd;
}

}  // namespace

MarkTable::MarkTable(int file, Descriptor own, std::string path) noexcept
    : file_(file),
      path_(std::move(path)),
      own_(std::move(own)) {}

MarkTable::~MarkTable() {
    if (path_.empty()) return;
    not_for_children = -1;
    remove_if_last(own_.get(), path_);
}

std::shared_ptr<MarkTable> MarkTable::of_file(int fd) {
    return std::shared_ptr<MarkTable>(new MarkTable(fd, {}, {}));
}

std::shared_ptr<MarkTable> MarkTable::of_node(std::string const& folder) {
    std::string const path = path_in(folder);
    Descriptor own = open_table(path);
    if (own.get() < 0) return nullptr;
    keep_from_children(own.get());
    return std::shared_ptr<MarkTable>(new MarkTable(-1, std::move(own), path));
}

/// Of a file it is opened when the first mark is wanted.
bool MarkTable::open() noexcept {
    std::lock_guard const guard(mutex_);
    if (own_.get() >= 0) return true;
    own_ = Descriptor(::open(name_of_descriptor(file_).c_str(), O_RDONLY | O_CLOEXEC));
    return own_.get() >= 0;
}

int MarkTable::descriptor() const noexcept {
    std::lock_guard const guard(mutex_);
    return own_.get();
}

/// The system has one lock of a place, whatever the number of this process's marks there. Nobody
/// may count on a lock before it is there.
bool MarkTable::hold(Span range) noexcept try {
    if (!open()) return false;
    int const own = descriptor();
    std::lock_guard const guard(held_mutex_);
    bool locked = true;
    held_.add(range, [&](Span free) { locked = locked && set(own, free, F_RDLCK); });
    if (!locked) held_.remove(range, [&](Span free) { set(own, free, F_UNLCK); });
    return locked;
} catch (std::bad_alloc const&) {
    return false;
}

void MarkTable::release(Span range) noexcept {
    int const own = descriptor();
    std::lock_guard const guard(held_mutex_);
    held_.remove(range, [&](Span free) { set(own, free, F_UNLCK); });
}

/// What is asked for is a write lock, which no mark would let pass; nothing is taken.
bool MarkTable::is_held_by_others(Span range) noexcept {
    int const own = descriptor();
    short type = F_WRLCK;
    return ask(own >= 0 ? own : file_, F_OFD_GETLK, range, type) && type != F_UNLCK;
}

Offset MarkTable::place_of(FileIdentity const& file) noexcept {
    std::uint64_t mixed = (file.inode ^ (file.device << 32U)) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29U;
    return static_cast<Offset>(mixed % static_cast<std::uint64_t>(places)) << place_bits;
}

void MarkTable::end(int descriptor, bool of_node, std::string const& folder) noexcept {
    set(descriptor, {0, UnfinishedMarks::of_calls}, F_UNLCK);
    set(descriptor, {UnfinishedMarks::of_calls, UnfinishedMarks::of_keepers.begin}, F_UNLCK);
    if (of_node) remove_if_last(descriptor, path_in(folder));
}

UnfinishedMarks::UnfinishedMarks(std::shared_ptr<MarkTable> node, int fd, FileIdentity const& file)
    : table_(std::move(node)) {
    if (!table_) {
        table_ = MarkTable::of_file(fd);
        return;
    }
    begin_ = MarkTable::place_of(file);
    most_ = Offset{1} << place_bits;
}

/// Empty where it has none.
Span UnfinishedMarks::place_of(Span range) const noexcept {
    if (range.begin >= of_calls) return range;
    return {begin_ + range.begin, begin_ + std::min(range.end, most_)};
}

bool UnfinishedMarks::hold(Span range) noexcept {
    bool const has_place = range.begin >= of_calls || range.end <= most_;
    return has_place && table_->hold(place_of(range));
}

int UnfinishedMarks::descriptor_of_file() const noexcept {
    return most_ == of_calls ? table_->descriptor() : -1;
}

void UnfinishedMarks::release(Span range) noexcept { table_->release(place_of(range)); }

bool UnfinishedMarks::is_held_by_others(Span range) noexcept {
    Span const place = place_of(range);
    return !place.empty() && table_->is_held_by_others(place);
}

}  // namespace sluice
