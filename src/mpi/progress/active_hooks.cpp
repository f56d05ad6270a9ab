// How active hooks are moved on, and what the stall watchdog says of them. See active_hooks.hpp.
#include "mpi/progress/active_hooks.hpp"

#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace sluice {

bool ActiveHooks::add(ProgressHook& hook) {
    if (std::ranges::find(hooks_, &hook) != hooks_.end()) return false;
    hooks_.push_back(&hook);
    return true;
}

bool ActiveHooks::move(ProgressHook& hook) noexcept {
    try {
        return hook.progress();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice: rank %d cannot go on with an operation: %s\n", world_rank(),
                     error.what());
        std::abort();
    }
}

bool ActiveHooks::move_all() noexcept {
    bool moved = false;
    for (ProgressHook* const hook : hooks_) moved |= move(*hook);
    return moved;
}

void ActiveHooks::remove_idle() {
    std::erase_if(hooks_, [](ProgressHook const* hook) { return hook->idle(); });
}

bool ActiveHooks::any_waits_for_devices() const {
    return std::ranges::any_of(hooks_, &ProgressHook::waits_for_devices);
}

bool ActiveHooks::any_is_due() const {
    return std::ranges::any_of(hooks_, [](ProgressHook const* hook) { return hook->due() > 0; });
}

bool ActiveHooks::any_must_look_again() const {
    return std::ranges::any_of(hooks_, &ProgressHook::must_look_again);
}

void ActiveHooks::describe(TraceEvent& wait) const {
    if (!hooks_.empty()) hooks_.front()->describe(wait);
}

std::vector<std::string> ActiveHooks::texts() const {
    std::vector<std::string> texts;
    for (ProgressHook const* const hook : hooks_) texts.push_back(hook->describe());
    return texts;
}

void StallWatchdog::moved(Clock& clock) {
    if (settings().stall_seconds > 0) moved_at_ = clock.now();
}

void StallWatchdog::watch(double now, ActiveHooks const& hooks) {
    double const limit = settings().stall_seconds;
    if (limit <= 0 || now - moved_at_ < limit) return;
    moved_at_ = now;
    for (auto const& text : texts_.unknown(hooks.texts())) {
        warn("rank " + std::to_string(world_rank()) + " made no progress for " +
                 std::to_string(static_cast<int>(limit)) + " s: " + text,
             true);
    }
}

}  // namespace sluice
