// How lines and values are read. See description.hpp.
#include "base/description.hpp"

#include "base/byte_count.hpp"
#include "base/nearest.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

namespace sluice {
namespace {

std::string trimmed(std::string const& text) {
    auto const begin = text.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The line without its comment: a # inside of quotes is none.
std::string without_comment(std::string const& line) {
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == '#' && !quoted) return trimmed(line.substr(0, i));
    }
    return trimmed(line);
}

std::string unquoted(std::string const& value) {
    bool const quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

bool Description::fail(std::string const& what) {
    if (error_.empty()) error_ = what;
    return false;
}

bool Description::set(std::string const& assignment) {
    auto const equals = assignment.find('=');
    if (equals == std::string::npos) return fail("'" + assignment + "': expected key = value");
    std::string const key = trimmed(assignment.substr(0, equals));
    if (key.empty()) return fail("'" + assignment + "': expected key = value");
    values_[key] = unquoted(trimmed(assignment.substr(equals + 1)));
    return true;
}

bool Description::add(std::string const& text) {
    std::istringstream lines(text);
    std::string section;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = without_comment(line);
        if (line.empty()) continue;
        if (line.front() == '[' && line.back() == ']') {
            section = trimmed(line.substr(1, line.size() - 2)) + ".";
            continue;
        }
        if (!set(section + line)) return fail("line " + std::to_string(number));
    }
    return true;
}

std::optional<std::string> Description::take(std::string const& key) {
    asked_.insert(key);
    auto const found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    std::string value = std::move(found->second);
    values_.erase(found);
    return value;
}

bool Description::take(std::string const& key, double& value) {
    auto const text = take(key);
    if (!text) return true;
    auto const [rest, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    bool const whole = error == std::errc{} && rest == text->data() + text->size() && value >= 0 &&
                       std::isfinite(value);
    return whole || fail(key + " = " + *text + ": expected a number that is not negative");
}

bool Description::take(std::string const& key, std::int64_t& value) {
    auto const text = take(key);
    if (!text) return true;
    auto const bytes = parse_bytes(*text);
    if (!bytes) return fail(key + " = " + *text + ": expected a number or a size, as in 64K");
    value = *bytes;
    return true;
}

bool Description::take(std::string const& key, std::int32_t& value) {
    std::int64_t wide = value;
    if (!take(key, wide)) return false;
    if (wide > std::numeric_limits<std::int32_t>::max()) return fail(key + ": too large");
    value = static_cast<std::int32_t>(wide);
    return true;
}

bool Description::take(std::string const& key, bool& value) {
    auto const text = take(key);
    if (!text) return true;
    if (*text != "true" && *text != "false")
        return fail(key + " = " + *text + ": expected true or false");
    value = *text == "true";
    return true;
}

bool Description::take(std::string const& key, std::string& value) {
    if (auto text = take(key)) value = std::move(*text);
    return true;
}

std::map<std::string, std::string> Description::take_section(std::string const& section) {
    std::map<std::string, std::string> all;
    std::string const prefix = section + ".";
    for (auto at = values_.lower_bound(prefix);
         at != values_.end() && at->first.starts_with(prefix);) {
        all[at->first.substr(prefix.size())] = std::move(at->second);
        at = values_.erase(at);
    }
    return all;
}

std::string Description::error() const {
    if (!error_.empty()) return error_;
    if (values_.empty()) return "";
    std::string const& wrong = values_.begin()->first;
    auto const meant = nearest(wrong, {asked_.begin(), asked_.end()});
    return "there is no key '" + wrong + "'" +
           (meant ? "; did you mean " + std::string(*meant) + "?" : "");
}

}  // namespace sluice
