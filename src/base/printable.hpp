// Text that came from outside, such as the name of a file, for a terminal or for a program.
#pragma once
#include <string>
#include <string_view>

namespace sluice {

/// Control characters, those of C1 in UTF-8 too, as \xNN: what is printed moves no cursor, begins
/// no line of its own and gives the terminal no order. Other bytes stay as they are.
[[nodiscard]] std::string printable(std::string_view text);

/// Text as a string of JSON, with its quotation marks.
[[nodiscard]] std::string quoted_for_json(std::string_view text);

}  // namespace sluice
