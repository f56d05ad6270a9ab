// ActiveHooks is the list of hooks that have something under way, and StallWatchdog says what they
// wait for when nothing moves. A hook that cannot go on ends the job.
#pragma once
#include "mpi/progress/stall_texts.hpp"
#include "schedule/port.hpp"
#include "schedule/progress_hook.hpp"

#include <string>
#include <vector>

namespace sluice {

class ActiveHooks {
public:
    /// Returns false where `hook` is in the list.
    bool add(ProgressHook& hook);
    void remove(ProgressHook const& hook) { std::erase(hooks_, &hook); }
    [[nodiscard]] bool empty() const noexcept { return hooks_.empty(); }

    /// Moves one hook, or all that are active; true when anything moved. Ends the job where memory
    /// runs out amid an operation: other ranks take part in it and would wait for ever.
    static bool move(ProgressHook& hook) noexcept;
    bool move_all() noexcept;
    void remove_idle();

    [[nodiscard]] bool any_waits_for_devices() const;
    [[nodiscard]] bool any_is_due() const;
    [[nodiscard]] bool any_must_look_again() const;
    /// For a trace: what the first operation waits for.
    void describe(TraceEvent& wait) const;
    /// For the stall watchdog.
    [[nodiscard]] std::vector<std::string> texts() const;

private:
    std::vector<ProgressHook*> hooks_;
};

/// Says where this rank is when nothing has moved for as long as the settings allow.
class StallWatchdog {
public:
    explicit StallWatchdog(double now) noexcept : moved_at_(now) {}
    /// Something has moved. Looks at the clock only where anybody watches.
    void moved(Clock& clock);
    void watch(double now, ActiveHooks const& hooks);

private:
    double moved_at_;
    StallTexts texts_;
};

}  // namespace sluice
