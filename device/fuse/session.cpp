// Mounting on this host. See session.hpp.
#include "device/fuse/session.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sluice::device {
namespace {

bool is_program(std::string const& name) {
    for (std::string const folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
        if (access((folder + name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

/// Whether another file system in user space is mounted there; /proc says where it is not asked.
bool is_mounted(std::string const& directory) {
    char* const real = realpath(directory.c_str(), nullptr);
    std::string const wanted = real != nullptr ? real : directory;
    std::free(real);
    std::ifstream mounts("/proc/self/mounts");
    std::string line, what, where, type;
    for (; std::getline(mounts, line);) {
        std::istringstream(line) >> what >> where >> type;
        std::string plain;  // Blanks and the like are written as \040.
        for (std::size_t i = 0; i < where.size(); ++i) {
            bool const escaped = where[i] == '\\' && i + 3 < where.size();
            plain += escaped ? static_cast<char>(std::stoi(where.substr(i + 1, 3), nullptr, 8))
                             : where[i];
            if (escaped) i += 3;
        }
        if (plain == wanted && type.starts_with("fuse")) return true;
    }
    return false;
}

}  // namespace

int fail(std::string const& why) {
    std::fprintf(stderr, "sluice device: %s\n", why.c_str());
    return 1;
}

std::string first_obstacle(std::string const& directory) {
    struct stat s{};
    std::string const unmount = "fusermount3 -u " + directory;
    struct statvfs asked{};
    bool const there = stat(directory.c_str(), &s) == 0;
    // The kernel may still know the folder's attributes; the space it has to ask for.
    if (statvfs(directory.c_str(), &asked) != 0 && errno == ENOTCONN)
        return directory + " is the mount of a device that has ended; first: " + unmount;
    if (is_mounted(directory))
        return directory + " is a mount already; end what serves it, or: " + unmount;
    if (!there || !S_ISDIR(s.st_mode)) return directory + " is not a directory; make it first";
    if (access("/dev/fuse", F_OK) != 0)
        return "/dev/fuse is missing: this kernel or container has no FUSE (a container gets it "
               "with --device /dev/fuse --cap-add SYS_ADMIN)";
    int const probe = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (probe < 0)
        return std::string("/dev/fuse may not be opened (") + std::strerror(errno) +
               "): run as root, or let the container have the device";
    ::close(probe);
    if (geteuid() != 0 && !is_program("fusermount3"))
        return "only root may mount without fusermount3: install the package fuse3";
    return {};
}

fuse_session* new_session(fuse_lowlevel_ops const& operations, void* user_data) {
    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    fuse_opt_add_arg(&arguments, "sluice-device");
    fuse_opt_add_arg(&arguments, "-ofsname=sluice-device,subtype=sluice,max_read=1048576");
    if (geteuid() == 0) fuse_opt_add_arg(&arguments, "-oallow_other,default_permissions");
    auto* session = fuse_session_new(&arguments, &operations, sizeof operations, user_data);
    fuse_opt_free_args(&arguments);
    if (session == nullptr) fail("libfuse refused to start");
    return session;
}

bool serve_session(fuse_session* session, unsigned threads) {
    // A thread sleeps for each request in service; beyond this many the kernel keeps the rest.
    auto* loop = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(loop, threads);
    fuse_loop_cfg_set_idle_threads(loop, 16);
    int const result = fuse_session_loop_mt(session, loop);
    fuse_loop_cfg_destroy(loop);
    return result >= 0;
}

int run_mount(Emulation& emulation, std::string const& directory, bool page_cache,
              std::string const& what) {
    Client client(emulation, {.page_cache = page_cache, .attributes_seconds = 1});
    auto* session = new_session(operations(), &client);
    if (session == nullptr) return 1;
    if (fuse_set_signal_handlers(session) != 0 ||
        fuse_session_mount(session, directory.c_str()) != 0) {
        fuse_session_destroy(session);
        return fail("mounting on " + directory + " failed: is mounting allowed here?");
    }
    std::printf("mounted %s: %s\n", directory.c_str(), what.c_str());
    std::fflush(stdout);
    bool const served = serve_session(session, 64);
    fuse_remove_signal_handlers(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
    return served ? 0 : fail("serving requests failed");
}

}  // namespace sluice::device
