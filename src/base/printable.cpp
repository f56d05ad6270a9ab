// See printable.hpp.
#include "base/printable.hpp"

#include <cstdio>

namespace sluice {
namespace {

std::string coded(char const* format, unsigned char byte) {
    char code[8];
    std::snprintf(code, sizeof code, format, unsigned{byte});
    return code;
}

bool is_control(unsigned char byte) noexcept { return byte < 0x20 || byte == 0x7f; }

/// U+0080 to U+009F; terminals take some of them for the begin of an order, as ESC and a letter.
bool is_c1(unsigned char first, unsigned char second) noexcept {
    return first == 0xc2 && second >= 0x80 && second <= 0x9f;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const byte = static_cast<unsigned char>(text[i]);
        auto const next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (is_c1(byte, next)) {
            shown += coded("\\x%02x", next);
            ++i;
        } else {
            shown += is_control(byte) ? coded("\\x%02x", byte) : std::string(1, text[i]);
        }
    }
    return shown;
}

std::string quoted_for_json(std::string_view text) {
    std::string quoted = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        auto const byte = static_cast<unsigned char>(c);
        quoted += byte < 0x20 ? coded("\\u%04x", byte) : std::string(1, c);
    }
    return quoted + "\"";
}

}  // namespace sluice
