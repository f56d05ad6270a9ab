// What variables and hints have in common: a name with its default, how a value is looked up, and
// what the user is told about values that are not understood.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace sluice {

/// A name that users set, its default and what it does.
struct Knob {
    char const* name;
    char const* fallback;
    char const* meaning;
};

/// Looks a name up; nothing or null when it is not set.
using Lookup = std::function<std::optional<std::string>(char const* name)>;

/// Something that was set, has no effect, and that the user is told about.
struct Complaint {
    std::string name, text;
};

}  // namespace sluice
