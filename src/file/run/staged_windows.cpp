// Which window is whose. See staged_windows.hpp.
#include "file/run/staged_windows.hpp"

namespace sluice {

Bytes StagedWindows::length_of(std::int64_t part) const noexcept {
    Bytes const left = bytes_ - part * window_bytes();
    return std::clamp<Bytes>(left, 0, window_bytes());
}

void StagedWindows::obtain_window(std::int64_t part) {
    auto& window = windows_[part % 2];
    if (!window) window = user_.device->take_window();
    if (!window)
        window = {new std::byte[static_cast<std::size_t>(window_bytes())],
                  std::default_delete<std::byte[]>()};
}

void StagedWindows::start(std::int64_t part, Direction way, Bytes bytes) {
    if (bytes == 0 || error_) return;
    obtain_window(part);
    UserCopies copies(user_, way);
    copies.add(Cursor(layout_, part * window_bytes()), Cursor(*Layout::contiguous(), 0),
               windows_[part % 2].get(), bytes);
    copies_[part % 2] = copies.start();
}

void StagedWindows::wait_for(std::int64_t part) {
    auto& under_way = copies_[part % 2];
    if (!under_way) return;
    under_way->wait();
    error_ = first_of(error_, under_way->error());
    under_way.reset();
}

void StagedWindows::prepare_to_read() {
    wait_for(part_);
    Bytes const bytes = length_of(part_);
    if (bytes == 0) return;
    obtain_window(part_);
    if (!may_have_holes_) return;
    start(part_, Direction::write, bytes);
    wait_for(part_);
}

Bytes StagedWindows::begin_part() {
    ++part_;
    if (way_ == Direction::read) {
        prepare_to_read();
    } else {
        if (part_ == 0) start(0, way_, length_of(0));
        wait_for(part_);
        start(part_ + 1, way_, length_of(part_ + 1));
    }
    return error_ ? 0 : length_of(part_);
}

void StagedWindows::end_part(Bytes got) { start(part_, way_, std::min(got, length_of(part_))); }

Error StagedWindows::finish() {
    wait_for(0);
    wait_for(1);
    return error_;
}

}  // namespace sluice
