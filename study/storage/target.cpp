// Mounting. See target.hpp.
#include "study/storage/target.hpp"

#include "tools/installation.hpp"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sluice::tools {
namespace {

/// The first line that the child writes; empty when it ends before.
std::string first_line(int fd) {
    std::string line;
    for (char c = 0; read(fd, &c, 1) == 1 && c != '\n';) line += c;
    return line;
}

}  // namespace

Target Target::folder(std::string const& path) {
    Target target;
    target.name_ = path;
    if (access(path.c_str(), W_OK) == 0)
        target.path_ = path;
    else
        target.missing_ = "cannot be written";
    return target;
}

Target Target::device(std::string const& profile) {
    Target target;
    target.name_ = profile;
    char place[] = "/tmp/bench-device-XXXXXX";
    int ends[2];
    if (!mkdtemp(place) || pipe(ends) != 0) {
        target.missing_ = "no temporary folder";
        return target;
    }
    std::string program = common_file("bin/sluice");
    target.server_ = fork();
    if (target.server_ == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        unsetenv("LD_PRELOAD");
        execl(program.c_str(), "sluice", "device", "--profile", profile.c_str(), "--mount", place,
              "--page-cache", "off", nullptr);
        _exit(127);
    }
    close(ends[1]);
    bool const mounted = target.server_ > 0 && first_line(ends[0]).starts_with("mounted ");
    close(ends[0]);
    target.path_ = place;
    if (!mounted) {
        target.missing_ = "sluice device could not mount it";
    }
    return target;
}

Target::Target(Target&& other) noexcept
    : name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      missing_(std::move(other.missing_)),
      server_(std::exchange(other.server_, -1)) {}

Target::~Target() {
    if (server_ <= 0) return;
    kill(server_, SIGTERM);
    waitpid(server_, nullptr, 0);
    rmdir(path_.c_str());
}

}  // namespace sluice::tools
