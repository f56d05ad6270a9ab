// A PageDropper writes back what a file transferred and drops it from the page cache: the hint
// `sluice_page_cache` = `drop`.
#pragma once
#include "schedule/port.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

/// What a transfer accessed; stretches that touch are one, and of many the last grows.
using Touched = std::vector<Span>;
void add_touched(Touched& touched, Segment const& segment);

/// Hands on the segments of another transfer, to any storage, and notes them.
class TouchingTransfer final : public Transfer {
public:
    explicit TouchingTransfer(Transfer& inner);
    std::optional<Segment> next() override;
    /// The other's results, but `done`.
    void hand_over() noexcept;
    [[nodiscard]] Touched const& touched() const noexcept { return touched_; }

private:
    Transfer& inner_;
    Touched touched_;
};

/// Writes back and drops stretches of one file. Its calls may block, as the device does.
class PageDropper {
public:
    /// Has a descriptor of its own, so that it may outlive the file.
    explicit PageDropper(int fd);
    ~PageDropper();
    PageDropper(PageDropper const&) = delete;
    PageDropper& operator=(PageDropper const&) = delete;

    /// Returns at once.
    void note(Direction direction, Touched const& touched);
    /// Starts to write back what was written, and drops older stretches: those above `backlog`
    /// bytes are waited for. Drops what was read.
    void work();
    /// Waits for all and drops it. What the device said of any write-back since the last call.
    Error finish();

    static constexpr Bytes backlog = Bytes{8} << 20;

private:
    void wait_and_drop(Span span);
    void drop(Span span) const noexcept;

    struct Noted {
        Direction direction;
        Touched touched;
    };
    void take_noted();

    int const fd_;
    std::mutex noted_mutex_;
    std::vector<Noted> noted_;  ///< Guarded by the mutex before.
    std::mutex mutex_;          ///< Guards the rest; held while the device is waited for.
    std::deque<Span> written_;  ///< Write-back was started.
    Bytes written_bytes_ = 0;
    Span all_;     ///< From the first to the last byte touched since finish().
    Error error_;  ///< The system tells each error once.
};

}  // namespace sluice
