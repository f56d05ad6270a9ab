// What operations of a stream teach about the machine's profile, and from when on it is used. Pure;
// equal on all ranks, as all that it is told was agreed on.
#pragma once
#include "core/cost_model.hpp"

#include <deque>

namespace sluice {

/// One operation that nothing disturbed.
struct Lesson {
    std::int64_t operation = 0;  ///< Its number in the stream.
    Direction direction = Direction::write;
    Strategy strategy = Strategy::independent;
    double estimated = 0, measured = 0;  ///< Seconds of storage.
};

class Learning {
public:
    /// `delay`: an operation that is so many numbers later begins on no rank before the lesson's
    /// is complete on all.
    explicit Learning(std::int64_t delay) : delay_(delay) {}

    void add(Lesson const& lesson) { lessons_.push_back(lesson); }
    /// What may be used in this operation: not what an earlier one taught that another rank may
    /// still be busy with. Operations ask in their order.
    [[nodiscard]] Correction const& known_to(std::int64_t operation);

private:
    std::int64_t delay_;
    Correction correction_;
    std::deque<Lesson> lessons_;  ///< Not used yet, in the order of operations.
};

}  // namespace sluice
