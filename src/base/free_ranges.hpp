// FreeRanges keeps account of which parts of a stretch of memory are free. It gives out the lowest
// part that is long enough, so that memory that was used before is used again. Pure. User:
// system/bounded_memory.hpp.
#pragma once
#include "base/extent.hpp"

#include <map>
#include <optional>

namespace sluice {

class FreeRanges {
public:
    explicit FreeRanges(Bytes bytes);

    /// The begin of a part that is taken now; nothing where no free part is long enough.
    [[nodiscard]] std::optional<Offset> take(Bytes bytes);
    /// Gives back what take() gave, with the same length.
    void give(Offset begin, Bytes bytes);

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool all_free() const noexcept;

private:
    Bytes bytes_;
    std::map<Offset, Bytes> free_;  ///< Lengths by begin; neighbours are joined.
};

}  // namespace sluice
