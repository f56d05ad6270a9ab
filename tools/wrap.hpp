// Text for a terminal of 80 columns.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace sluice {

/// Breaks at blanks; each line but the first begins with `indent` blanks. A longer word stays so.
[[nodiscard]] inline std::string wrapped(std::string_view text, std::size_t indent,
                                         std::size_t columns = 79) {
    std::string all;
    std::size_t at = indent;
    while (!text.empty()) {
        auto const end = std::min(text.find(' '), text.size());
        std::string_view const word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        bool const begins = all.empty();
        if (!begins && at + 1 + word.size() > columns) {
            all += "\n" + std::string(indent, ' ');
            at = indent;
        } else if (!begins) {
            all += ' ';
            at += 1;
        }
        all += word;
        at += word.size();
    }
    return all;
}

}  // namespace sluice
