// What storage is asked to do: a slot's marked bytes, or a request's bytes straight from user
// memory.
#pragma once
#include "ports/port.hpp"
#include "run/movement.hpp"

#include <utility>

namespace sluice {

/// Exactly the marked bytes of a slot. When reading, small gaps between them are read too: that is
/// cheaper than many requests, and changes nothing outside of the slot.
class SlotTransfer final : public Transfer {
public:
    SlotTransfer(Direction way, Slot const& slot, Offset window_begin) noexcept;
    std::optional<Segment> next() override;

private:
    Slot slot_;
    Offset window_begin_;
    Offset at_ = 0;
};

/// Bytes that lie together: those of a window whose coverage is known without marks.
class WholeTransfer final : public Transfer {
public:
    WholeTransfer(Direction way, Segment whole) noexcept : Transfer(way), whole_(whole) {}
    std::optional<Segment> next() override { return std::exchange(whole_, std::nullopt); }

private:
    std::optional<Segment> whole_;
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
