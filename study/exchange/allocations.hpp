// Counts what this program allocates with operator new, for who measures the memory of a part.
#pragma once
#include <cstdint>

namespace sluice::tools {

struct Allocations {
    std::int64_t bytes = 0;  ///< Held now.
    std::int64_t count = 0;  ///< Made so far.
};

[[nodiscard]] Allocations const& allocations() noexcept;

}  // namespace sluice::tools
