// The loop over events. See time.hpp.
#include "simulate/time.hpp"

namespace sluice::simulated {

bool Time::run(std::int64_t events_max) {
    while (!events_.empty()) {
        if (events_max-- == 0) return false;
        Event const event = events_.top();
        events_.pop();
        now_ = event.when;
        event.who->happened(event.kind, event.subject);
    }
    return true;
}

}  // namespace sluice::simulated
