// How files of profiles are named. See profile_place.hpp.
#include "base/profile_place.hpp"

#include <sstream>
#include <vector>

namespace sluice {
namespace {

/// The kernel writes blanks and the like as a backslash and three octal digits.
std::string unescaped(std::string const& text) {
    constexpr std::size_t digits = 3;
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const escape = text[i] == '\\' && i + digits < text.size() &&
                            text.find_first_not_of("01234567", i + 1) > i + digits;
        plain += escape ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                            (text[i + 3] - '0'))
                        : text[i];
        if (escape) i += digits;
    }
    return plain;
}

bool holds(std::string const& folder, std::string const& path) {
    if (folder == "/") return true;
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Fields behind the lone dash: their number before it varies.
std::optional<Mount> mount_of_line(std::string const& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; stream >> field;) fields.push_back(field);
    constexpr std::size_t point = 4, optional = 6;
    for (std::size_t dash = optional; dash + 2 < fields.size(); ++dash) {
        if (fields[dash] == "-")
            return Mount{unescaped(fields[point]), fields[dash + 1], unescaped(fields[dash + 2])};
    }
    return std::nullopt;
}

/// Anything else is a dash, and dashes do not follow each other or end it.
std::string plain_words(std::string const& text) {
    std::string name;
    for (char const c : text) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool const other = (c >= '0' && c <= '9') || c == '.' || c == '_';
        if (letter || other)
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
    }
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name;
}

}  // namespace

std::optional<Mount> mount_of(std::string const& table, std::string const& path) {
    std::optional<Mount> found;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        auto mount = mount_of_line(line);
        bool const nearer = mount && holds(mount->point, path) &&
                            (!found || mount->point.size() >= found->point.size());
        if (nearer) found = std::move(mount);
    }
    return found;
}

std::string profile_name(std::string const& host, Mount const& mount) {
    constexpr std::size_t most = 200;  // File systems take 255.
    bool const tells =
        !mount.source.empty() && mount.source != "none" && mount.source != mount.type;
    // A source that is no place: any number of such file systems have the same.
    bool const is_place = mount.source.find_first_of("/:@") != std::string::npos;
    std::string words = host + "-" + mount.type;
    if (tells) words += "-" + mount.source;
    if (!is_place) words += "-" + mount.point;
    return plain_words(words).substr(0, most) + ".toml";
}

}  // namespace sluice
