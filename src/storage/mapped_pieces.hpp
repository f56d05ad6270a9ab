// MappedPieces writes short pieces of a file that have gaps between them: the system copies
// hundreds of them in one call into a mapping of the file, where requests would be a call each.
// Bytes in the gaps are neither read nor written, so nobody's are lost who writes there meanwhile.
#pragma once
#include "schedule/port.hpp"
#include "system/descriptor.hpp"

#include <atomic>
#include <mutex>

namespace sluice {

/// Pieces beyond this length, and gaps, are for requests.
inline constexpr Bytes mapped_piece_bytes_most = 512;
/// Pieces that are written at once lie in so many bytes of the file, which begin at a multiple.
inline constexpr Bytes mapped_window_bytes = Bytes{256} << 10;

/// Whether a mapping pays: a request costs as much as a half of a page that is mapped, or more.
[[nodiscard]] bool mapping_pays(std::span<Segment const> pieces) noexcept;

/// Of one file. Threads may write at the same time.
class MappedPieces {
public:
    /// The descriptor must live as long. Nothing is asked of the system yet.
    MappedPieces(int fd, AccessMode mode) noexcept : fd_(fd), mode_(mode) {}

    /// Pieces ascend and lie in one window. Reserves their storage, and blocks. False: not all of
    /// them may have been written. Requests that write them again tell why, if it lasts.
    [[nodiscard]] bool write(std::span<Segment const> pieces);

private:
    void prepare();
    [[nodiscard]] bool reserve(Span span) noexcept;

    int const fd_;
    AccessMode const mode_;
    std::once_flag once_;
    std::atomic<bool> is_refused_{false};  ///< For good.
    Descriptor reopened_;  ///< Of a file that is open only to write: the system maps none.
};

}  // namespace sluice
