// A Batch gathers the segments of a transfer that touch in the file and cuts requests to the system
// from them. It decides which way each request goes, and takes its answer: a short count, an error,
// the end of the file.
#pragma once
#include "base/page_cache.hpp"
#include "events/tracer.hpp"
#include "schedule/port.hpp"
#include "storage/direct_io.hpp"
#include "storage/mapped_pieces.hpp"

#include <sys/uio.h>
#include <vector>

namespace sluice {

/// Linux transfers at most 2 GiB - 4 KiB at once.
inline constexpr Bytes bytes_at_once = Bytes{1} << 30;

/// How requests of a file reach the system.
struct Route {
    int fd = -1;
    DirectIo* direct_io = nullptr;          ///< Null: everything through the page cache.
    MappedPieces* mapped_pieces = nullptr;  ///< Null: everything by requests.
    Faults* faults = nullptr;               ///< Null but in tests.
    Tracer* tracer = nullptr;               ///< Null: there is no trace.
    std::uint16_t traced_file = 0;          ///< Its name there.

    /// Requests that end at its multiples keep whole pages together.
    [[nodiscard]] Bytes unit() const noexcept { return direct_io ? direct_io->unit() : 1; }
};

/// For requests that moved nothing but did not fail for good: an interruption, no room at the
/// moment, a write of zero bytes. All but interruptions have an end, so that nobody hangs.
class Patience {
public:
    /// Whether the request is to be made again. `result`: 0 of a write, or -errno.
    [[nodiscard]] bool again(long result) noexcept;

private:
    static constexpr int tries_most = 100;
    int tries_ = 0;
};

class Batch;

/// The segments of a transfer, cut where a batch is full.
class Segments {
public:
    explicit Segments(Transfer& transfer, Bytes batch_bytes = bytes_at_once, Bytes unit = 1)
        : transfer_(transfer),
          batch_bytes_(batch_bytes),
          unit_(unit),
          ahead_(transfer.next()) {}

    /// The next ones that touch; false at the end.
    bool fill(Batch& batch);
    /// The next ones, where they are short pieces close together in a window, and a mapping pays;
    /// else none. fill() gives them as well, until they are dropped.
    std::span<Segment const> mappable();
    void drop_mappable();
    [[nodiscard]] bool has_more() const noexcept { return ahead_.has_value(); }

private:
    std::optional<Segment> next();
    bool has_room();
    [[nodiscard]] bool goes_on(Segment const& piece) const noexcept;

    Transfer& transfer_;
    Bytes batch_bytes_;
    Bytes unit_;  ///< Batches end at its multiples where there is more behind them.
    std::optional<Segment> ahead_;
    /// What mappable() has looked at. Until all of it is used, `ahead_` is the one before
    /// `next_seen_`, or a rest of it.
    std::vector<Segment> seen_;
    std::size_t next_seen_ = 0;
    std::size_t mappable_ = 0;  ///< So many of them, from the first on, may go into a mapping.
};

/// Bytes that touch in the file. What is left of them is asked for from the front on, in one
/// request or, with direct I/O, in several.
class Batch {
public:
    /// Sets up the next request; false where nothing is left to be asked for.
    bool ask(Route const& route, Transfer& transfer);

    /// The request: what ask() set up; before, all of the batch.
    [[nodiscard]] iovec const* vectors() const noexcept {
        return bounced_ ? &bounce_range_ : vectors_ + first_;
    }
    [[nodiscard]] int count() const noexcept { return bounced_ ? 1 : asked_end_ - first_; }
    [[nodiscard]] Offset offset() const noexcept { return offset_; }
    [[nodiscard]] int fd() const noexcept { return fd_; }

    /// Notes in the transfer's results what the request gave: bytes, zero at the end of the file,
    /// or -errno. True if a rest is left to be asked for.
    bool take(long result, Transfer& transfer) noexcept;

private:
    friend class Segments;
    static constexpr int vectors_max = ranges_of_a_request;

    void clear(Offset offset) noexcept;
    void add(Segment const& segment) noexcept;
    [[nodiscard]] Bytes choose(Route const& route, Direction direction);
    void cut(Bytes bytes) noexcept;
    void uncut() noexcept;
    void gather() noexcept;
    void scatter(Bytes bytes) noexcept;
    void drop(Bytes bytes) noexcept;
    bool goes_through_cache(DirectIo& direct_io, long result) noexcept;
    void note_end(long result, Transfer& transfer) noexcept;
    void begin_trace(Route const& route, Transfer const& transfer) noexcept;

    iovec vectors_[vectors_max];
    int first_ = 0, end_ = 0;
    Offset offset_ = 0;
    Bytes left_ = 0;
    Patience patience_;             ///< Since the last byte was moved.
    bool direct_io_fails_ = false;  ///< For these bytes of memory; the rest goes through the cache.
    // The request.
    int fd_ = -1;
    DirectIo* direct_io_ = nullptr;  ///< Goes past the page cache.
    Bytes asked_ = 0;
    char const* call_ = "";  ///< For messages.
    Tracer* tracer_ = nullptr;
    TraceEvent event_;  ///< Of the request, where there is a tracer.
    int asked_end_ = 0;
    std::size_t held_back_ = 0;  ///< Bytes of its last vector that are not asked for yet.
    bool bounced_ = false;
    Bounce bounce_;
    iovec bounce_range_{};
};

/// Makes the request in the calling thread: bytes, or -errno.
long make_request(Batch const& request, Direction direction) noexcept;

}  // namespace sluice
