// How parts are opened and removed, by their names in a folder that is open. See parts_folder.hpp.
#include "system/parts_folder.hpp"

#include "system/errno_status.hpp"

#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// They tell what a job does to which files.
constexpr mode_t for_owner = 0600, folder_for_owner = 0700;

/// A regular file. The open of something else may not wait for it.
Descriptor open_regular(int folder, std::string const& name, int how) {
    Descriptor file(
        openat(folder, name.c_str(), how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, for_owner));
    if (file.get() < 0) return {};  // errno says why.
    struct stat about{};
    bool const is_regular = fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode);
    return is_regular ? std::move(file) : Descriptor();
}

/// This user's, and under no other name.
bool is_own(int fd) {
    struct stat about{};
    return fstat(fd, &about) == 0 && about.st_uid == geteuid() && about.st_nlink == 1;
}

bool is_empty(int fd) {
    struct stat about{};
    return fstat(fd, &about) == 0 && about.st_size == 0;
}

/// The number that a name says, as parts are named; nothing: it is another name.
std::optional<std::int64_t> rank_in(std::string const& name) {
    std::int64_t rank = 0;
    auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
    bool const all = error == std::errc{} && std::to_string(rank) == name;
    return all && rank >= 0 ? std::optional(rank) : std::nullopt;
}

}  // namespace

bool begins_with(int fd, std::string_view start) {
    std::string found(start.size(), '\0');
    return pread(fd, found.data(), found.size(), 0) == std::ssize(found) && found == start;
}

Descriptor PartsFolder::folder() const {
    return Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Descriptor PartsFolder::own_folder(std::string& why) const {
    Descriptor own = folder();
    struct stat about{};
    if (own.get() < 0 || fstat(own.get(), &about) != 0) {
        why = with_errno("cannot open the folder " + path_);
        return {};
    }
    if (about.st_uid == geteuid()) return own;
    why = path_ + " belongs to another user, and is left alone";
    return {};
}

bool PartsFolder::holds_part(int fd) const { return fd >= 0 && begins_with(fd, start_); }

Descriptor PartsFolder::open(std::int64_t rank, std::string& why) const {
    if (mkdir(path_.c_str(), folder_for_owner) != 0 && errno != EEXIST) {
        why = with_errno("cannot make the folder " + path_);
        return {};
    }
    Descriptor const in = own_folder(why);
    if (in.get() < 0) return {};
    std::string const name = std::to_string(rank);
    constexpr int how = O_RDWR;
    Descriptor part = open_regular(in.get(), name, how | O_CREAT | O_EXCL);
    if (part.get() >= 0) return part;
    if (errno != EEXIST) {
        why = with_errno("cannot write " + path_of(rank));
        return {};
    }
    part = open_regular(in.get(), name, how);
    bool const may_write = is_own(part.get()) && (is_empty(part.get()) || holds_part(part.get()));
    if (may_write) return part;
    why = path_of(rank) + " is no part of a job that Sluice watched, and is left alone";
    return {};
}

Descriptor PartsFolder::create(std::string const& name, std::string& why) const {
    Descriptor const in = own_folder(why);
    if (in.get() < 0) return {};
    unlinkat(in.get(), name.c_str(), 0);
    Descriptor file = open_regular(in.get(), name, O_WRONLY | O_CREAT | O_EXCL);
    if (file.get() < 0) why = with_errno("cannot write " + path_ + "/" + name);
    return file;
}

std::vector<std::int64_t> PartsFolder::ranks() const {
    Descriptor const in = folder();
    std::vector<std::int64_t> all;
    std::unique_ptr<DIR, int (*)(DIR*)> const entries(
        in.get() < 0 ? nullptr : fdopendir(dup(in.get())), closedir);
    while (dirent const* const entry = entries ? readdir(entries.get()) : nullptr) {
        auto const rank = rank_in(entry->d_name);
        if (rank && holds_part(open_regular(in.get(), entry->d_name, O_RDONLY).get()))
            all.push_back(*rank);
    }
    return all;
}

Descriptor PartsFolder::find(std::int64_t rank) const {
    Descriptor const in = folder();
    Descriptor part = open_regular(in.get(), std::to_string(rank), O_RDONLY);
    return holds_part(part.get()) ? std::move(part) : Descriptor();
}

void PartsFolder::remove(std::string const& name) const {
    std::string why;
    Descriptor const in = own_folder(why);
    if (in.get() < 0) return;
    unlinkat(in.get(), name.c_str(), 0);
    rmdir(path_.c_str());  // While there are parts the system refuses.
}

void PartsFolder::remove_parts(std::optional<std::int64_t> but) const {
    for (std::int64_t const rank : ranks())
        if (rank != but) remove(std::to_string(rank));
}

}  // namespace sluice
