// See learning.hpp.
#include "core/learning.hpp"

namespace sluice {

Correction const& Learning::known_to(std::int64_t operation) {
    for (; !lessons_.empty(); lessons_.pop_front()) {
        Lesson const& lesson = lessons_.front();
        if (lesson.operation + delay_ > operation) break;
        correction_.learn(lesson.direction, lesson.strategy, lesson.estimated, lesson.measured);
    }
    return correction_;
}

}  // namespace sluice
