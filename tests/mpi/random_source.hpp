// How much random programs move.
#pragma once
#include "model.hpp"

#include "tests/placed_random.hpp"

namespace random_test {

/// How much a program moves.
enum class Scale { small, medium, large };

/// Typical sizes of a scale, in bytes.
struct Sizes {
    std::int64_t piece;     ///< Bytes that lie together, at most.
    std::int64_t type;      ///< One instance of a datatype.
    std::int64_t transfer;  ///< One rank's part of one call.
    std::int64_t file;      ///< No access ends behind this.
};

inline Sizes sizes_of(Scale scale, int shrink) {
    static constexpr Sizes table[] = {{32, 400, 3000, 1 << 17},
                                      {1024, 16000, 150000, 1 << 22},
                                      {16384, 200000, 2000000, 1 << 25}};
    Sizes sizes = table[static_cast<std::size_t>(scale)];
    auto const less = [shrink](std::int64_t bytes) {
        return std::max<std::int64_t>(bytes >> shrink, 16);
    };
    return {less(sizes.piece), less(sizes.type), less(sizes.transfer), sizes.file};
}

}  // namespace random_test
