// UserCopies bring bytes between the memory of a call and memory of the library: at once where the
// processor reaches both. Else the copies are noted, and a device makes all of them together.
#pragma once
#include "schedule/port.hpp"

namespace sluice {

class UserCopies {
public:
    /// All copies go one way: of a write they come from the user's memory.
    UserCopies(UserMemory user, Direction way) noexcept : user_(user), way_(way) {}

    /// `bytes` bytes of what lies ahead in the user's memory and in the library's, `own`.
    void add(Cursor user, Cursor own, std::byte* own_memory, Bytes bytes);

    /// Begins what was noted; null: there is nothing, and all bytes are where they belong.
    [[nodiscard]] std::unique_ptr<DeviceWork> start();
    /// The same until it is finished; what went wrong. Blocks.
    Error finish();

private:
    UserMemory user_;
    Direction way_;
    std::vector<Rows> rows_;
};

/// Between the first `bytes` bytes of the user's memory and contiguous memory of the library. That
/// lies in `all`, which is used again and again, and registered with the device in long pieces as
/// they are met; empty: it is used once. Blocks.
Error copy_user(UserMemory user, Direction way, Layout const& layout, std::byte* own, Bytes bytes,
                std::span<std::byte> all = {});

}  // namespace sluice
