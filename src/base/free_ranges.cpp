// First fit, and joining of neighbours. See free_ranges.hpp.
#include "base/free_ranges.hpp"

namespace sluice {

FreeRanges::FreeRanges(Bytes bytes) : bytes_(bytes) {
    if (bytes > 0) free_.emplace(0, bytes);
}

std::optional<Offset> FreeRanges::take(Bytes bytes) {
    if (bytes <= 0) return 0;
    for (auto at = free_.begin(); at != free_.end(); ++at) {
        auto const [begin, length] = *at;
        if (length < bytes) continue;
        free_.erase(at);
        if (length > bytes) free_.emplace(begin + bytes, length - bytes);
        return begin;
    }
    return std::nullopt;
}

void FreeRanges::give(Offset begin, Bytes bytes) {
    if (bytes <= 0) return;
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && begin + bytes == next->first) {
        bytes += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        auto const before = std::prev(next);
        if (before->first + before->second == begin) {
            before->second += bytes;
            return;
        }
    }
    free_.emplace(begin, bytes);
}

bool FreeRanges::all_free() const noexcept {
    return bytes_ == 0 || (free_.size() == 1 && free_.begin()->second == bytes_);
}

}  // namespace sluice
