// MappedPieces writes short pieces of a file that have gaps between them: the system copies
// hundreds of them in one call into a mapping of the file, where requests would be a call each.
// Bytes in the gaps are not written, so nobody's are lost who writes there meanwhile.
#pragma once
#include "schedule/port.hpp"

#include <atomic>
#include <mutex>

namespace sluice {

/// Pieces that are longer than this, or follow a gap of a page, go by requests.
inline constexpr Bytes mapped_piece_bytes_most = 512;
/// Pieces that are written at once lie in so many bytes of the file, which begin at a multiple of
/// it, and are so many at most.
inline constexpr Bytes mapped_window_bytes = Bytes{256} << 10;
inline constexpr std::size_t mapped_pieces_most = 16384;

/// How many requests would write them: pieces that touch go in one.
[[nodiscard]] std::int64_t requests_of(std::span<Segment const> pieces) noexcept;
/// Whether a mapping is faster. Measured: one page costs as much as four to eight requests, and a
/// mapping as much as a few more.
[[nodiscard]] bool mapping_pays(std::span<Segment const> pieces) noexcept;

/// Of one file. Any thread.
class MappedPieces {
public:
    /// The descriptor must live as long. Nothing is asked of the system yet.
    explicit MappedPieces(int fd) noexcept : fd_(fd) {}

    /// False where the system maps no such file, or has refused it before.
    [[nodiscard]] bool is_possible();
    /// The pieces ascend and lie in one window. Their storage is reserved. Blocks. False: some may
    /// be missing in the file. Requests that write all of them again tell why, if it lasts.
    [[nodiscard]] bool write(std::span<Segment const> pieces);

private:
    [[nodiscard]] bool reserve(Span span) noexcept;

    int const fd_;
    std::once_flag once_;
    std::atomic<bool> is_refused_{false};  ///< For good.
};

}  // namespace sluice
