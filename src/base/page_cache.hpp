// What becomes of the system's page cache when bytes are moved between memory and the file, and how
// much one request moves: what plans and storage both know.
#pragma once
#include <cstdint>

namespace sluice {

/// What becomes of the page cache of the bytes that a file transfers.
enum class PageCache : std::uint8_t {
    keep,       ///< As the system does.
    direct_io,  ///< Direct I/O; what is not aligned goes through the cache.
};

/// Ranges of memory that one request to the system names, at most. Pieces that touch in the file go
/// in one request, as do those whose gaps are read along.
inline constexpr int ranges_of_a_request = 256;

}  // namespace sluice
