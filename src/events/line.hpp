// One line of a recorded log: a name, numbers, and fields with names (docs/record.md). This file
// writes it; tools/recorded/log.hpp reads it. Pure.
#pragma once
#include "base/type_tree.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::record {

/// The first line of a log, and the number of its format: readers take any log of this number.
inline constexpr std::string_view signature = "sluice-record";
inline constexpr std::int64_t version = 1;

/// A value that holds none of the characters that separate words.
[[nodiscard]] std::string encoded(std::string_view value);
[[nodiscard]] std::string decoded(std::string_view word);

/// Appends lines to a text. The name comes first, then numbers, then fields.
class LineWriter {
public:
    explicit LineWriter(std::string& to) noexcept : to_(to) {}

    LineWriter& name(std::string_view word) { return to_.append(word), *this; }
    LineWriter& number(std::int64_t value);
    LineWriter& field(std::string_view key, std::int64_t value);
    /// The value is encoded.
    LineWriter& field(std::string_view key, std::string_view value);
    /// Numbers with commas between them; of none there is no field.
    template <class Number> LineWriter& list(std::string_view key, std::span<Number const> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            i == 0 ? begin(key) : to_.push_back(',');
            digits(static_cast<std::int64_t>(values[i]));
        }
        return *this;
    }
    void end() { to_.push_back('\n'); }

private:
    void begin(std::string_view key);
    void digits(std::int64_t value);

    std::string& to_;
};

/// The fields of a type tree; `parts` are the numbers under which its parts were written.
void write_type_tree(LineWriter& line, TypeTree const& type_tree,
                     std::span<std::int64_t const> parts);

/// The words of the constructors and of the forms of elements, in the order of their enums.
[[nodiscard]] std::span<std::string_view const> maker_words() noexcept;
[[nodiscard]] std::span<std::string_view const> form_words() noexcept;

}  // namespace sluice::record
