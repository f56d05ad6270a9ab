// Text that describes machines and devices: lines `key = value` in sections, the simple part of
// TOML. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// What was said, by "section.key". Later lines replace earlier ones.
class Description {
public:
    /// Adds the lines of `text`. Strings may be quoted; # begins a comment. False at a line that is
    /// not understood: see error().
    bool add(std::string const& text);
    /// Adds one "section.key=value".
    bool set(std::string const& assignment);

    /// Takes a value out; nothing where it was not given.
    std::optional<std::string> take(std::string const& key);
    /// Takes a number, a size (64K) or a word out into `value`, which stays where nothing is said.
    bool take(std::string const& key, double& value);
    bool take(std::string const& key, std::int64_t& value);
    bool take(std::string const& key, std::int32_t& value);
    bool take(std::string const& key, bool& value);
    bool take(std::string const& key, std::string& value);
    /// All of a section, with keys as they are inside of it.
    std::map<std::string, std::string> take_section(std::string const& section);

    /// Notes what cannot be; the first complaint is kept. Returns false.
    bool fail(std::string const& what);
    /// Empty when all was understood and taken.
    [[nodiscard]] std::string error() const;

private:
    std::map<std::string, std::string> values_;
    std::set<std::string> asked_;  ///< Keys that there are.
    std::string error_;
};

}  // namespace sluice
