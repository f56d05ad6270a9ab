// How digits and a unit are read and written. See byte_count.hpp.
#include "base/byte_count.hpp"

#include <charconv>

namespace sluice {

std::optional<Bytes> parse_bytes(std::string const& text) noexcept {
    Bytes value = 0;
    char const* end = text.data() + text.size();
    auto const [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    if (rest == end) return value;
    int const shift = *rest == 'K' || *rest == 'k' ? 10 : *rest == 'M' ? 20 : *rest == 'G' ? 30 : 0;
    if (shift == 0 || rest + 1 != end || value > (endless >> shift)) return std::nullopt;
    return value << shift;
}

}  // namespace sluice
