// StagedWindows are two windows of host memory through which the bytes of a request go in parts
// between a device and the file: while one part is written or read, the device copies the next one,
// or the last one.
#pragma once
#include "file/run/user_copies.hpp"

namespace sluice {

class StagedWindows {
public:
    /// `layout` is of the user's memory; it must live as long as this. `may_have_holes`: a part
    /// that is read may lack bytes anywhere, where the user's memory must stay as it is.
    StagedWindows(UserMemory user, Layout const& layout, Direction way, Bytes bytes,
                  bool may_have_holes) noexcept
        : user_(user),
          layout_(layout),
          way_(way),
          bytes_(bytes),
          may_have_holes_(may_have_holes) {}

    /// Begins the next part: of a write its bytes are in the window. Its length; 0: none is left,
    /// or something failed. The part before must have gone to the file. Blocks on the device.
    [[nodiscard]] Bytes begin_part();
    [[nodiscard]] std::byte* window() const noexcept { return windows_[part_ % 2].get(); }
    /// Of a read: brings the first `got` bytes of the part that has come to the device.
    void end_part(Bytes got);
    /// Where the part begins among the bytes of the request.
    [[nodiscard]] Bytes begin() const noexcept { return part_ * window_bytes(); }
    /// Until no copy is under way; the first error. Blocks.
    Error finish();

private:
    [[nodiscard]] Bytes window_bytes() const noexcept { return user_.device->window_bytes(); }
    [[nodiscard]] Bytes length_of(std::int64_t part) const noexcept;
    void prepare_to_read();
    void obtain_window(std::int64_t part);
    void start(std::int64_t part, Direction way, Bytes bytes);
    void wait_for(std::int64_t part);

    UserMemory user_;
    Layout const& layout_;
    Direction way_;
    Bytes bytes_;
    bool may_have_holes_;
    std::int64_t part_ = -1;
    std::shared_ptr<std::byte> windows_[2];
    std::unique_ptr<DeviceWork> copies_[2];  ///< Under way, from or to the window.
    Error error_;
};

}  // namespace sluice
