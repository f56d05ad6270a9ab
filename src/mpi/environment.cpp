// How the environment is read, how LD_PRELOAD is left, and who may write to stderr. See
// environment.hpp.
#include "mpi/environment.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

std::atomic<int> rank_in_world{0};
std::string own_preload;

/// Of the environment, until the rank that speaks is known.
std::vector<Complaint>& complaints() {
    static auto* const only = new std::vector<Complaint>;
    return *only;
}

std::vector<std::string> names_of_environment() {
    std::vector<std::string> names;
    for (char** entry = environ; entry && *entry; ++entry) {
        std::string_view const text = *entry;
        names.emplace_back(text.substr(0, text.find('=')));
    }
    return names;
}

Settings read_environment() {
    Settings const s = read_settings(
        [](char const* name) -> std::optional<std::string> {
            char const* const value = std::getenv(name);
            return value ? std::optional<std::string>(value) : std::nullopt;
        },
        complaints());
    for (auto& one : unknown_variables(names_of_environment())) {
        complaints().push_back(std::move(one));
    }
    return s;
}

/// Where this library was loaded from.
std::filesystem::path own_path() {
    Dl_info found{};
    bool const known = dladdr(reinterpret_cast<void*>(&leave_preload), &found) != 0;
    return known && found.dli_fname ? found.dli_fname : "";
}

/// A name without a folder was searched for, so there is only the name to compare.
bool names(std::filesystem::path const& entry, std::filesystem::path const& library) {
    if (!entry.has_parent_path()) return entry == library.filename();
    std::error_code missing;
    return std::filesystem::equivalent(entry, library, missing);
}

}  // namespace

Settings const& settings() {
    static Settings const s = read_environment();
    return s;
}

void leave_preload() {
    char const* const before = std::getenv("LD_PRELOAD");
    if (!before) return;
    auto const library = own_path();
    std::string const all = before;
    std::string others;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
        end = std::min(all.find_first_of(": ", begin), all.size());
        std::string const entry = all.substr(begin, end - begin);
        if (entry.empty()) continue;
        if (names(entry, library)) {
            own_preload = library;
            continue;
        }
        others += (others.empty() ? "" : ":") + entry;
    }
    if (others.empty())
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", others.c_str(), 1);
}

std::string const& preloaded_path() { return own_preload; }

void tell_complaints() {
    (void)settings();  // Where nobody has asked yet, nothing has been read.
    for (auto const& one : std::exchange(complaints(), {})) warn(one.text);
}

int world_rank() noexcept { return rank_in_world; }
void set_world_rank(int rank) noexcept { rank_in_world = rank; }

void say(std::string const& text) { std::fprintf(stderr, "sluice: %s\n", text.c_str()); }

void warn(std::string const& text, bool always) {
    static std::mutex mutex;
    static std::set<std::string> said;
    if (settings().log < 1 || (!always && world_rank() != 0)) return;
    std::lock_guard const lock(mutex);
    if (!said.insert(text).second && !always) return;
    say(text);
}

void note(std::string const& text) {
    if (settings().log > 1 && world_rank() == 0) say(text);
}

}  // namespace sluice
