// Which pages of the host's memory a driver was asked to register, and which of them it did. Pure.
// Users: host_memory.hpp, copy_calls.hpp.
#pragma once
#include "base/extent.hpp"

#include <vector>

namespace sluice {

/// A value; any threads may read one that does not change.
class HeldRanges {
public:
    /// What of the range was not asked for yet.
    [[nodiscard]] std::vector<Span> unknown_parts(Span range) const;
    /// One that unknown_parts() gave.
    void add(Span part, bool is_registered);
    /// Whether all of it is.
    [[nodiscard]] bool is_registered(Span range) const noexcept;
    /// Up to where the range was registered at once, or is not at all: a driver refuses a copy
    /// across such a border. The range is not empty.
    [[nodiscard]] Offset alike_until(Span range) const noexcept;

private:
    struct Part {
        Span range;
        bool is_registered = false;
    };
    using Place = std::vector<Part>::const_iterator;
    /// The first one that ends behind the offset.
    [[nodiscard]] Place first_behind(Offset offset) const noexcept;

    std::vector<Part> parts_;  ///< In order; none overlaps another.
};

}  // namespace sluice
