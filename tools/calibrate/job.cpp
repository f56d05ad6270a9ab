// Ranks, scratch files and the end of a job that fails. See calibrate.hpp.
#include "bench/measure/end_job.hpp"
#include "tools/calibrate/calibrate.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

namespace sluice::calibrate {
namespace {

constexpr std::size_t path_most = 4096;
/// Read by the signal handler; an empty one is free.
std::array<std::array<char, path_most>, 2> scratch_paths;

void remove_all() noexcept {
    for (auto const& path : scratch_paths)
        if (path[0] != 0) unlink(path.data());
}

/// The thread that makes files lets no signal come in between, but the MPI has threads of its own,
/// which may get it then: they wait until the file is in the list, and no other one is made.
std::atomic<bool> is_making{false}, is_ending{false};

void end_by_signal(int number) {
    is_ending = true;
    while (is_making) continue;
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};

void watch_signals() {
    for (int const number : ending) signal(number, end_by_signal);
}

/// Makes a file that a signal removes, however soon it comes.
int make_removed(std::string const& path) noexcept {
    sigset_t held, before;
    sigemptyset(&held);
    for (int const number : ending) sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    is_making = true;
    while (is_ending) is_making = false;  // Another thread ends the process.
    int const fd = open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        auto* const place = std::ranges::find_if(scratch_paths, [](auto& p) { return p[0] == 0; });
        if (place != scratch_paths.end()) path.copy(place->data(), path.size());
    }
    int const why = errno;
    is_making = false;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = why;
    return fd;
}

}  // namespace

bool Job::one_node() const { return far().empty(); }

std::vector<int> Job::near() const {
    std::vector<int> found;
    for (int r = 0; r < ranks; ++r)
        if (nodes[static_cast<std::size_t>(r)] == nodes.front()) found.push_back(r);
    return found;
}

std::vector<int> Job::far() const {
    std::vector<int> found;
    for (int r = 0; r < ranks; ++r)
        if (nodes[static_cast<std::size_t>(r)] != nodes.front()) found.push_back(r);
    return found;
}

double of_rank_0(double value) {
    bench::check(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return value;
}

void give_up(std::string const& why) {
    remove_all();
    end_job("sluice calibrate: " + why);
}

Scratch::Scratch(Job const& job, std::string const& folder, char const* name, Reach reach)
    : mine_(job.rank == 0) {
    auto const process =
        std::to_string(static_cast<long>(of_rank_0(static_cast<double>(getpid()))));
    if (mine_ && reach == Reach::node) {
        nameless_ = Descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    }
    auto const nameless = static_cast<int>(of_rank_0(nameless_.get()));
    if (nameless >= 0) {
        path_ = "/proc/" + process + "/fd/" + std::to_string(nameless);
        return;
    }
    path_ = folder + "/calibrate-" + name + "-" + process;
    if (!mine_) return;
    if (path_.size() >= path_most) give_up("the name of the folder is too long: " + folder);
    watch_signals();
    int const fd = make_removed(path_);
    if (fd < 0) give_up("cannot make " + path_ + ": " + std::strerror(errno));
    close(fd);
}

Scratch::~Scratch() {
    if (!mine_ || nameless_.get() >= 0) return;
    unlink(path_.c_str());
    for (auto& path : scratch_paths)
        if (path_ == path.data()) path = {};  // make_removed() wants zeros behind a shorter name.
}

void Scratch::remove() {
    bench::wait_for_all();
    if (mine_ && nameless_.get() < 0) unlink(path_.c_str());
}

}  // namespace sluice::calibrate
