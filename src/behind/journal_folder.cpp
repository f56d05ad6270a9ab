// A new file gets its name when it is locked and full, so that whoever looks into the folder never
// takes it for one that was left behind, and a process that is killed meanwhile leaves nothing. See
// journal_folder.hpp.
#include "behind/journal_folder.hpp"

#include "system/errno_status.hpp"
#include "system/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view suffix = ".sluice-journal";
/// Where the file system makes no files without a name (O_TMPFILE): that of one which is not full.
constexpr std::string_view suffix_of_new = ".sluice-journal.new";

bool lock(int fd) noexcept {
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR) return false;
    }
    return true;
}

/// The length first, so that the file can be mapped; then room, so that no store ends in a signal.
Error make_room(int fd, Bytes bytes) {
    if (int const error = set_length(fd, bytes)) return system_error("ftruncate", error, bytes, 0);
    auto const mapping = Mapping::of(fd, {0, bytes});
    if (!mapping) return system_error("mmap", ENOMEM, bytes, 0);
    if (!mapping->reserve({0, bytes})) return system_error("fallocate", ENOSPC, bytes, 0);
    return {};
}

Error write_header(int fd, Bytes bytes, JournalOrigin const& origin) {
    auto const mapping = Mapping::of(fd, {0, journal_records});
    if (!mapping || !mapping->open({0, journal_records}))
        return system_error("mmap", ENOMEM, bytes, 0);
    format_journal({mapping->data(), static_cast<std::size_t>(journal_records)}, origin, true);
    return system_error("fsync", fsync(fd) == 0 ? 0 : errno);
}

/// A file that is to become a journal, with its lock.
struct NewFile {
    Descriptor descriptor;
    std::string name;  ///< Empty: none yet.
    Error error;
};

NewFile make_without_name(std::string const& folder) {
    NewFile made;
    made.descriptor =
        Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (made.descriptor.get() < 0)
        made.error = system_error("open with O_TMPFILE", errno);
    else
        made.error = system_error("flock", lock(made.descriptor.get()) ? 0 : errno);
    return made;
}

/// Locked, and not removed before that.
bool is_mine(int fd) noexcept {
    struct stat about{};
    return lock(fd) && fstat(fd, &about) == 0 && about.st_nlink > 0;
}

/// Whoever clears the folder may take the file for a left one until it is locked, and remove it.
NewFile make_with_name(std::string const& name) {
    constexpr int tries = 5;
    NewFile made;
    made.name = name;
    for (int left = tries; left > 0; --left) {
        constexpr int how = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
        made.descriptor = Descriptor(::open(name.c_str(), how, S_IRUSR | S_IWUSR));
        int const fd = made.descriptor.get();
        made.error = system_error("open", fd < 0 ? errno : 0);
        if (made.error || is_mine(fd)) return made;
    }
    made.error = system_error("flock", EAGAIN);
    return made;
}

/// The name is on the device as well: a crash must not lose it.
Error give_name(std::string const& folder, NewFile const& made, std::string const& path) {
    std::string const there = name_of_descriptor(made.descriptor.get());
    bool const unnamed = made.name.empty();
    int const result =
        unnamed ? linkat(AT_FDCWD, there.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW)
                : rename(made.name.c_str(), path.c_str());
    if (result != 0) return system_error(unnamed ? "linkat" : "rename", errno);
    Descriptor const opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.get() < 0) return system_error("open", errno);
    return system_error("fsync", fsync(opened.get()) == 0 ? 0 : errno);
}

std::string name_for(JournalOrigin const& origin) {
    return std::string(origin.host) + "-" + std::to_string(origin.created / 1000) + "-" +
           std::to_string(origin.process) + "-" + std::to_string(std::max<long>(origin.rank, 0));
}

/// Whoever may put a file into the folder must not say what this user writes. The errno, or 0.
int not_own(int fd) noexcept {
    struct stat about{};
    if (fstat(fd, &about) != 0) return errno;
    if (!S_ISREG(about.st_mode)) return EINVAL;
    return about.st_uid == geteuid() ? 0 : EPERM;
}

/// Those whose names end so, by name, each with its lock if nobody holds it.
std::vector<FoundJournal> files_in(std::string const& folder, std::string_view end, Error& error) {
    std::vector<FoundJournal> found;
    DIR* const opened = opendir(folder.c_str());
    error = system_error("opendir", opened ? 0 : errno);
    if (!opened) return found;
    constexpr int how = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    while (dirent const* const entry = readdir(opened)) {
        if (!std::string_view(entry->d_name).ends_with(end)) continue;
        FoundJournal one;
        one.file.path = folder + "/" + entry->d_name;
        one.file.descriptor = Descriptor(::open(one.file.path.c_str(), how));
        int const fd = one.file.descriptor.get();
        if (fd < 0 && errno == ENOENT) continue;  // Its owner has just ended.
        one.file.error = system_error("open", fd < 0 ? errno : not_own(fd));
        one.is_free = !one.file.error && lock(fd);
        found.push_back(std::move(one));
    }
    closedir(opened);
    std::ranges::sort(found, {}, [](FoundJournal const& one) { return one.file.path; });
    return found;
}

/// The process may change its working folder before it removes the file.
std::string in_full(std::string const& folder) {
    char path[PATH_MAX];
    return realpath(folder.c_str(), path) ? path : folder;
}

/// The first word, which a name of a file may hold; the rest of `to` is zeros.
template <std::size_t room> void copy_word(char (&to)[room], char const* text) noexcept {
    std::size_t const bytes = std::min(room - 1, std::strcspn(text, "\n/"));
    std::memcpy(to, text, bytes);
}

}  // namespace

std::int64_t system_clock_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

JournalOrigin origin_here(std::int64_t rank) noexcept {
    JournalOrigin origin;
    char host[64] = "";
    if (gethostname(host, sizeof host - 1) == 0) copy_word(origin.host, host);
    char boot[64] = "";
    Descriptor const id(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (id.get() >= 0 && read(id.get(), boot, sizeof boot - 1) > 0) copy_word(origin.boot, boot);
    origin.rank = rank;
    origin.process = getpid();
    origin.created = system_clock_ns();
    return origin;
}

JournalFile make_journal_file(std::string const& folder, Bytes bytes, std::int64_t rank) {
    JournalOrigin const origin = origin_here(rank);
    JournalFile made;
    std::string const name = in_full(folder) + "/" + name_for(origin);
    made.path = name + std::string(suffix);
    NewFile file = make_without_name(folder);
    if (file.error) file = make_with_name(name + std::string(suffix_of_new));
    int const fd = file.descriptor.get();
    made.error = file.error;
    if (!made.error) made.error = make_room(fd, bytes);
    if (!made.error) made.error = write_header(fd, bytes, origin);
    if (!made.error) made.error = give_name(folder, file, made.path);
    if (made.error && fd >= 0 && !file.name.empty()) unlink(file.name.c_str());
    made.descriptor = std::move(file.descriptor);
    return made;
}

std::vector<FoundJournal> journals_in(std::string const& folder, Error& error) {
    return files_in(folder, suffix, error);
}

void clear_unfinished_journals(std::string const& folder) {
    Error error;
    for (FoundJournal const& one : files_in(folder, suffix_of_new, error)) {
        if (one.is_free) unlink(one.file.path.c_str());
    }
}

std::size_t count_left_journals(std::string const& folder) {
    Error error;
    auto const found = journals_in(folder, error);
    return static_cast<std::size_t>(std::ranges::count(found, true, &FoundJournal::is_free));
}

std::string left_journals_in_words(std::string const& folder) {
    std::size_t const left = count_left_journals(folder);
    if (left == 0) return {};
    return folder + " has " + std::to_string(left) +
           " journals of ranks that ended before their writes were in their files: run `sluice "
           "recover " +
           folder + "` to complete them. They are left as they are";
}

JournalEffects device_effects(int fd) {
    return {[fd] { return system_error("fdatasync of the journal", sync_data(fd)); },
            system_clock_ns};
}

}  // namespace sluice
