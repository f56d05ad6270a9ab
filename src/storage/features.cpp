// The trials of system calls. See features.hpp.
#include "storage/features.hpp"

#include "system/descriptor.hpp"
#include "system/fd_passing.hpp"
#include "system/shared_memory.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t trial_bytes = 4096;
constexpr char const* by_messages = "ranks of a node exchange messages";

/// What another process of this user finds.
bool found_by_peer(SharedMemoryName const& name) {
    pid_t const peer = fork();
    if (peer == 0) _exit(SharedMemory::attach(name, trial_bytes) ? 0 : 1);
    int status = -1;
    return peer > 0 && waitpid(peer, &status, 0) == peer && status == 0;
}

bool handed_over(SharedMemory const& memory) {
    FdPassing const own;
    int const descriptor[]{memory.descriptor()};
    if (!own.send(own.address(), descriptor)) return false;
    auto const got = own.receive();
    return !got.empty() && SharedMemory::adopt(got.front(), memory.name(), trial_bytes);
}

bool is_backed_by_fallocate(int fd) noexcept {
    return fallocate(fd, 0, 0, static_cast<off_t>(trial_bytes)) == 0;
}

bool takes_descriptor_locks(int fd) noexcept {
    struct flock range{};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool takes_direct_requests(int fd) noexcept {
    int const flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

/// Another node sees what is written only after a close.
bool shows_late(int fd) {
    auto const file = identity_of(fd);
    return file && consistency_of(fd, *file) == Consistency::close_to_open;
}

/// A file's size and a process's address space: either bounds the memory that a node shares.
Feature limits() {
    auto const bounded = [](auto resource) {
        rlimit limit{};
        return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    };
    bool const any = bounded(RLIMIT_FSIZE) || bounded(RLIMIT_AS);
    return {"sizes without limit", !any, "fewer files of a communicator at once (ulimit -f, -v)"};
}

}  // namespace

std::vector<Feature> system_features() {
    std::vector<Feature> all;
    auto const memory = SharedMemory::create(trial_bytes);
    bool const memfd = memory && !memory->is_in_file();
    all.push_back({"memory without a file", memfd, memory ? memory->place() : by_messages});
    if (memory) {
        all.push_back({"memory found by peers", found_by_peer(memory->name()),
                       handed_over(*memory) ? "handed over through sockets" : by_messages});
        all.push_back(
            {"memory reserved", is_backed_by_fallocate(memory->descriptor()),
             memory->reserve({0, trial_bytes}) ? "touched page by page" : "independent transfers"});
    }
    all.push_back(limits());
    return all;
}

std::vector<Feature> folder_features(std::string const& folder) {
    int const fd = open_unnamed(folder);
    if (fd < 0) return {};
    std::vector<Feature> const all{
        {"direct I/O", takes_direct_requests(fd), "the page cache"},
        {"preallocation", is_backed_by_fallocate(fd), "MPI_File_preallocate writes"},
        {"locks of a file handle", takes_descriptor_locks(fd), "locks of the process"},
        {"not NFS, SMB or AFS", !shows_late(fd),
         "the MPI, for files that ranks of several nodes write"},
    };
    close(fd);
    return all;
}

}  // namespace sluice
