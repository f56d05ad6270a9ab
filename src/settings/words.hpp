// These pure functions read lists of words in the values of hints.
#pragma once
#include <algorithm>
#include <string_view>

namespace sluice {

/// Calls `visit` for each part between commas; false when it returned false.
template <typename Visit> bool for_each_word(std::string_view text, Visit&& visit) {
    while (true) {
        auto const comma = std::min(text.find(','), text.size());
        if (!visit(text.substr(0, comma))) return false;
        if (comma == text.size()) return true;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace sluice
