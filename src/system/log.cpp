// Which rank may write to stderr, and how often. See log.hpp.
#include "system/log.hpp"

#include "base/printable.hpp"
#include "system/environment.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

namespace sluice {
namespace {

std::atomic<int> rank_in_world{0};

}  // namespace

int world_rank() noexcept { return rank_in_world; }
void set_world_rank(int rank) noexcept { rank_in_world = rank; }

void say(std::string const& text, std::string const& below) {
    std::fprintf(stderr, "sluice: %s\n%s", printable(text).c_str(), below.c_str());
}

void warn(std::string const& text, bool always) {
    static std::mutex mutex;
    static std::set<std::string> said;
    if (settings().log < LogLevel::warnings || (!always && world_rank() != 0)) return;
    std::lock_guard const lock(mutex);
    if (!said.insert(text).second && !always) return;
    say(text);
}

void note(std::string const& text, std::string const& below) {
    if (settings().log >= LogLevel::decisions && world_rank() == 0) say(text, below);
}

void tell_complaints() {
    for (auto const& one : take_complaints()) warn(one.text);
}

}  // namespace sluice
