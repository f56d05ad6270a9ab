// Splitting and joining the words of the hint. See exchange_hint.hpp.
#include "settings/exchange_hint.hpp"

#include "base/byte_count.hpp"
#include "settings/words.hpp"

#include <algorithm>

namespace sluice {
namespace {

void append(std::string& list, std::string_view word) {
    if (!list.empty()) list += ',';
    list += word;
}

/// The words of the value, sorted by what they are about.
struct Parts {
    std::optional<std::string> metadata, data;
    std::optional<std::string> groups;

    void take(std::string_view word) {
        auto const colon = word.find(':');
        auto const name = word.substr(0, colon == word.npos ? 0 : colon + 1);
        auto const value = word.substr(name.size());
        if (name == "groups:") {
            add(groups, value);
        } else {
            if (name != "data:") add(metadata, name == "metadata:" ? value : word);
            if (name != "metadata:") add(data, name == "data:" ? value : word);
        }
    }

private:
    static void add(std::optional<std::string>& list, std::string_view word) {
        if (list)
            append(*list, word);
        else
            list = word;
    }
};

/// Sets `target` to what `parse` makes of the text, if there is one; false where that is nothing.
template <typename Target, typename Parse>
bool set(Target& target, std::optional<std::string> const& text, Parse&& parse) {
    if (!text) return true;
    auto const value = parse(*text);
    if (value) target = *value;
    return value.has_value();
}

/// Sets the words of the text, if there is one, and leaves the rest as it is.
bool set(Delivery& target, std::optional<std::string> const& text) {
    return set(target, text, [&](auto const& said) { return parse_delivery(said, target); });
}

/// A number, at most `most`.
template <typename Target> auto number_up_to(Bytes most) {
    return [most](std::string const& text) -> std::optional<Target> {
        auto const value = parse_bytes(text);
        if (!value) return std::nullopt;
        return static_cast<Target>(std::min(*value, most));
    };
}

/// `prefix` before each word.
std::string prefixed(std::string const& prefix, std::string const& words) {
    std::string text;
    for_each_word(words, [&](std::string_view word) {
        append(text, prefix + std::string(word));
        return true;
    });
    return text;
}

}  // namespace

std::optional<Hints> with_exchange(Hints before, std::string const& text) {
    Parts parts;
    for_each_word(text, [&](std::string_view word) {
        parts.take(word);
        return true;
    });
    bool const understood = set(before.metadata, parts.metadata) && set(before.data, parts.data) &&
                            set(before.group_count, parts.groups, number_up_to<std::uint8_t>(255));
    return understood ? std::optional(before) : std::nullopt;
}

Hints without_exchange(Hints hints) noexcept {
    Hints const plain;
    hints.metadata = plain.metadata;
    hints.data = plain.data;
    hints.group_count = plain.group_count;
    return hints;
}

std::string describe_exchange(Hints const& hints) {
    std::string text;
    if (hints.metadata == hints.data) {
        if (hints.data != Delivery{}) append(text, describe(hints.data));
    } else {
        append(text, prefixed("metadata:", describe(hints.metadata)));
        append(text, prefixed("data:", describe(hints.data)));
    }
    if (hints.group_count != 0) append(text, "groups:" + std::to_string(hints.group_count));
    return text.empty() ? "auto" : text;
}

}  // namespace sluice
