// These transfers are what an operation asks of the storage: the marked bytes of a collective
// buffer, a whole window, or a request's bytes straight from or to user memory.
#pragma once
#include "file/run/movement.hpp"
#include "file/run/staged_windows.hpp"

namespace sluice {

/// Exactly the marked bytes of a collective buffer. When reading, small gaps between them are read
/// too: that is cheaper than many requests, and changes nothing outside of the collective buffer.
class CbBufferTransfer final : public Transfer {
public:
    CbBufferTransfer(Direction way, CbBuffer const& cb_buffer, Window const& window,
                     Bytes gap_bytes) noexcept;
    std::optional<Segment> next() override;

private:
    std::optional<Span> stretch_in_part();

    CbBuffer cb_buffer_;
    Window window_;
    Bytes gap_bytes_;        ///< Gaps of up to this length are read.
    std::int64_t part_ = 0;  ///< The part of the window that `at_` lies in.
    Offset at_ = 0;          ///< In the collective buffer.
};

/// All bytes of a window that lie in `span`: for windows whose coverage is known without marks.
class WholeTransfer final : public Transfer {
public:
    WholeTransfer(Direction way, std::byte* cb_buffer, Window const& window, Span span) noexcept;
    std::optional<Segment> next() override;

private:
    std::byte* cb_buffer_;
    Window window_;
    Span span_;
    std::int64_t part_ = 0;
};

/// A request's bytes, piece by piece, between user memory and the file. When reading, small gaps
/// can be read along, to nowhere: data sieving, in the system's own scattering reads. The bytes of
/// a device go in parts, through windows of host memory.
class UserTransfer final : public Transfer {
public:
    UserTransfer(Request const& request, UserMemory user, Bytes gap_bytes = 0);
    std::optional<Segment> next() override;
    bool next_part() override;
    [[nodiscard]] bool has_parts() const noexcept override { return user_.device != nullptr; }

    /// Bytes of the request that were transferred; valid once done. Gaps do not count.
    [[nodiscard]] Bytes wanted_bytes() const noexcept;

private:
    std::optional<Segment> gap();
    std::optional<Segment> piece(Bytes most, std::byte* memory);
    std::optional<Segment> next_staged();

    Request const& request_;
    Cursor file_, memory_;
    Offset displacement_;
    UserMemory user_;
    std::optional<StagedWindows> staged_;  ///< Of memory on a device, once it has begun.
    Bytes left_in_part_ = 0;               ///< The same.
    Bytes left_;
    Bytes gap_bytes_;
    Offset at_ = 0;                      ///< In the file, behind the last segment.
    std::unique_ptr<std::byte[]> gaps_;  ///< Where their bytes go, all to the same place.
};

}  // namespace sluice
