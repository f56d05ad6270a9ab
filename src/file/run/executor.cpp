// The schedules of an operation, all at once. See executor.hpp.
#include "file/run/executor.hpp"

namespace sluice {

void Executor::admit(Schedule&& schedule, std::int32_t id, std::int64_t round) {
    double const now = round >= 0 ? effects_.time_for_trace() : 0;  // Only rounds are told.
    admitted_.push_back(std::make_unique<Admitted>(std::move(schedule), id, round, now));
}

bool Executor::progress(std::vector<std::int32_t>& completed) {
    bool moved = false;
    for (auto& admitted : admitted_) moved |= admitted->schedule_run.advance(effects_);
    std::erase_if(admitted_, [&](auto const& admitted) {
        if (!admitted->schedule_run.done()) return false;
        completed.push_back(admitted->id);
        if (admitted->round >= 0)
            effects_.note_round(admitted->id, admitted->round, admitted->began);
        moved = true;
        return true;
    });
    return moved;
}

void Executor::abandon() {
    for (auto& admitted : admitted_) admitted->schedule_run.abandon();
}

Op const* Executor::waiting_op() const noexcept {
    for (auto const& admitted : admitted_) {
        if (Op const* const op = admitted->schedule_run.waiting_op()) return op;
    }
    return nullptr;
}

std::string Executor::waits_for() const {
    for (auto const& admitted : admitted_) {
        if (auto text = admitted->schedule_run.waits_for(effects_); !text.empty()) return text;
    }
    return {};
}

}  // namespace sluice
