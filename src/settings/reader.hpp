// A Reader reads the values of environment variables and hints, and collects complaints
// about those that it cannot understand. Only settings.cpp and file_hints.cpp use it.
#pragma once
#include "base/byte_count.hpp"
#include "settings/settings.hpp"

namespace sluice {

/// Collects what could not be understood.
class Reader {
public:
    /// `where` begins each complaint.
    Reader(Lookup const& lookup, std::span<Knob const> knobs, std::vector<Complaint>& complaints,
           std::string where = "")
        : lookup_(lookup),
          knobs_(knobs),
          complaints_(complaints),
          where_(std::move(where)) {}

    std::optional<Bytes> number(char const* name) {
        auto const text = lookup_(name);
        if (!text) return std::nullopt;
        auto const value = parse_bytes(*text);
        if (!value) complain(name, *text, "is not a number such as 0, 4096, 64K, 16M or 1G");
        return value;
    }
    Affinity affinity(char const* name) {
        auto const text = lookup_(name);
        if (!text) return {};
        auto const value = parse_affinity(*text);
        if (!value) complain(name, *text, "is neither inherit nor spread nor a list of cores");
        return value.value_or(Affinity{});
    }
    /// The place of the value among `words`.
    std::optional<int> word(char const* name, std::initializer_list<char const*> words) {
        auto const text = lookup_(name);
        if (!text) return std::nullopt;
        int place = 0;
        for (char const* const word : words) {
            if (*text == word) return place;
            ++place;
        }
        std::string all;
        for (char const* const word : words) all.append(all.empty() ? "" : ", ").append(word);
        complain(name, *text, "is not understood; there are " + all);
        return std::nullopt;
    }
    /// What `parse` makes of the value.
    template <typename Parse> auto parsed(char const* name, Parse&& parse) {
        auto const text = lookup_(name);
        decltype(parse(*text)) value;
        if (text) value = parse(*text);
        if (text && !value) complain(name, *text, "is not understood; it says " + meaning(name));
        return value;
    }
    Bytes fallback(char const* name) const {
        for (Knob const& knob : knobs_) {
            if (std::string(knob.name) == name) return parse_bytes(knob.fallback).value_or(0);
        }
        return 0;
    }

private:
    /// The words of the table, which tell the values.
    [[nodiscard]] std::string meaning(std::string_view name) const {
        for (Knob const& knob : knobs_)
            if (name == knob.name) return knob.meaning;
        return {};
    }
    void complain(char const* name, std::string const& text, std::string const& what) {
        complaints_.push_back({name, where_ + name + "=" + text + " " + what + "; it is ignored"});
    }
    Lookup const& lookup_;
    std::span<Knob const> knobs_;
    std::vector<Complaint>& complaints_;
    std::string where_;
};

[[nodiscard]] std::vector<std::string_view> names_of(std::span<Knob const> knobs);
/// Of all hints.
[[nodiscard]] std::vector<std::string_view> hint_names();

/// The complaint about a part of the value of `variable` that is not name=value, or whose name is
/// none; `known` are those that may be meant.
[[nodiscard]] Complaint no_assignment(char const* variable, std::string const& part,
                                      std::vector<std::string_view> const& known);

/// What `name=value;name=value` sets, the value of the variable `variable`. A part that is none, or
/// whose name `is_known` refuses, is complained about with the nearest of `known`; "none" sets
/// nothing.
template <typename IsKnown>
std::map<std::string, std::string>
assignments(std::string const& text, char const* variable, IsKnown&& is_known,
            std::vector<std::string_view> const& known, std::vector<Complaint>& complaints) {
    std::map<std::string, std::string> given;
    if (text == "none") return given;
    for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
        end = std::min(text.find(';', begin), text.size());
        std::string const part = text.substr(begin, end - begin);
        auto const equals = std::min(part.find('='), part.size());
        std::string const name = part.substr(0, equals);
        if (is_known(name) && equals < part.size())
            given[name] = part.substr(equals + 1);
        else if (!part.empty() || text.empty())
            complaints.push_back(no_assignment(variable, part, known));
    }
    return given;
}

/// Looks up in a map, which must live as long.
inline Lookup lookup_in(std::map<std::string, std::string> const& given) {
    return [&given](char const* name) -> std::optional<std::string> {
        auto const found = given.find(name);
        return found == given.end() ? std::nullopt : std::optional(found->second);
    };
}

/// Of names that begin with `prefix` those that are not in `known`, with the nearest one that is.
[[nodiscard]] std::vector<Complaint> unknown_names(std::vector<std::string> const& names,
                                                   std::string_view prefix,
                                                   std::vector<std::string_view> const& known);

}  // namespace sluice
