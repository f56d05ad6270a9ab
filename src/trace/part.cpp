// How clocks are aligned. See part.hpp.
#include "trace/part.hpp"

namespace sluice {

std::int64_t TracePart::aligned(std::int64_t moment) const noexcept {
    bool const twice = last.error >= 0 && last.at > first.at;
    if (!twice) return moment + first.offset;
    double const share =
        static_cast<double>(moment - first.at) / static_cast<double>(last.at - first.at);
    double const drift = share * static_cast<double>(last.offset - first.offset);
    return moment + first.offset + static_cast<std::int64_t>(drift);
}

}  // namespace sluice
