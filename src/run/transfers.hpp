// What storage is asked to do: a slot's marked bytes, or a request's bytes straight from user
// memory.
#pragma once
#include "ports/port.hpp"
#include "run/movement.hpp"

namespace sluice {

/// Exactly the marked bytes of a slot. When reading, small gaps between them are read too: that is
/// cheaper than many requests, and changes nothing outside of the slot.
class SlotTransfer final : public Transfer {
public:
    SlotTransfer(Direction way, Slot const& slot, Window const& window) noexcept;
    std::optional<Segment> next() override;

private:
    std::optional<Span> stretch_in_part();

    Slot slot_;
    Window window_;
    std::int64_t part_ = 0;  ///< The part of the window that `at_` lies in.
    Offset at_ = 0;          ///< In the slot.
};

/// All bytes of a window that lie in `span`: for windows whose coverage is known without marks.
class WholeTransfer final : public Transfer {
public:
    WholeTransfer(Direction way, std::byte* slot, Window const& window, Span span) noexcept;
    std::optional<Segment> next() override;

private:
    std::byte* slot_;
    Window window_;
    Span span_;
    std::int64_t part_ = 0;
};

/// A request's bytes, piece by piece, between user memory and the file.
class UserTransfer final : public Transfer {
public:
    UserTransfer(Request const& request, std::byte* user) noexcept;
    std::optional<Segment> next() override;

private:
    Cursor file_, memory_;
    Offset displacement_;
    std::byte* user_;
    Bytes left_;
};

}  // namespace sluice
