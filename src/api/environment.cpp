// getenv and stderr. See environment.hpp.
#include "api/environment.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace sluice {
namespace {

std::atomic<int> rank_in_world{0};

Settings read_environment() {
    std::vector<Complaint> complaints;
    Settings const s = read_settings(
        [](char const* name) -> std::optional<std::string> {
            char const* const value = std::getenv(name);
            return value ? std::optional<std::string>(value) : std::nullopt;
        },
        complaints);
    if (s.log > 0) {
        for (auto const& c : complaints) std::fprintf(stderr, "sluice: %s\n", c.text.c_str());
    }
    return s;
}

}  // namespace

Settings const& settings() {
    static Settings const s = read_environment();
    return s;
}

int world_rank() noexcept { return rank_in_world; }
void set_world_rank(int rank) noexcept { rank_in_world = rank; }

void warn(std::string const& text, bool always) {
    static std::mutex mutex;
    static std::set<std::string> said;
    if (settings().log < 1 || (!always && world_rank() != 0)) return;
    std::lock_guard const lock(mutex);
    if (!said.insert(text).second && !always) return;
    std::fprintf(stderr, "sluice: %s\n", text.c_str());
}

void note(std::string const& text) {
    if (settings().log < 2 || world_rank() != 0) return;
    std::fprintf(stderr, "sluice: %s\n", text.c_str());
}

}  // namespace sluice
