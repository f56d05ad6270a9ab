// Words of commands that a shell reads.
#pragma once
#include <string>

namespace sluice {

/// Whatever the text holds, it stays one word.
inline std::string quoted_for_shell(std::string const& text) {
    std::string result = "'";
    for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

}  // namespace sluice
