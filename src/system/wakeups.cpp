// How the system is told. See wakeups.hpp.
#include "system/wakeups.hpp"

#include <sched.h>
#include <unistd.h>

namespace sluice {

void Wakeups::begin() {
    std::lock_guard const lock(mutex_);
    if (sched_getscheduler(0) != SCHED_OTHER) return;
    thread_ = gettid();
    if (!preempts_) apply();
}

void Wakeups::end() {
    std::lock_guard const lock(mutex_);
    thread_ = 0;
}

void Wakeups::change(bool preempts) {
    std::lock_guard const lock(mutex_);
    preempts_ = preempts;
    if (thread_ != 0) apply();
}

void Wakeups::apply() const noexcept {
    sched_param const none{};  // The nice value stays.
    sched_setscheduler(thread_, preempts_ ? SCHED_OTHER : SCHED_BATCH, &none);
}

}  // namespace sluice
