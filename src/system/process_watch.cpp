// See process_watch.hpp.
#include "system/process_watch.hpp"

namespace sluice {
namespace {

constexpr double seconds_between_looks = 1;

}  // namespace

std::optional<std::size_t> ProcessWatch::ended(double now) noexcept {
    if (ended_ || processes_.empty()) return ended_;
    if (now - looked_at_ < seconds_between_looks) return std::nullopt;
    looked_at_ = now;
    for (std::size_t i = 0; i < processes_.size() && !ended_; ++i) {
        if (is_gone(processes_[i])) ended_ = i;
    }
    return ended_;
}

}  // namespace sluice
