// How the environment is read. See environment.hpp.
#include "system/environment.hpp"

#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

/// Of the environment, until the rank that speaks is known.
std::vector<Complaint>& complaints() {
    static auto* const only = new std::vector<Complaint>;
    return *only;
}

std::vector<std::string> names_of_environment() {
    std::vector<std::string> names;
    for (char** entry = environ; entry && *entry; ++entry) {
        std::string_view const text = *entry;
        names.emplace_back(text.substr(0, text.find('=')));
    }
    return names;
}

Settings read_environment() {
    Settings const s = read_settings(environment_variable, complaints());
    for (auto& one : unknown_variables(names_of_environment())) {
        complaints().push_back(std::move(one));
    }
    return s;
}

}  // namespace

std::optional<std::string> environment_variable(char const* name) {
    char const* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

ServedSetting served_now() {
    return parse_served(environment_variable("SLUICE").value_or("on")).value_or(ServedSetting{});
}

bool is_silent_now() { return environment_variable("SLUICE_LOG") == "0"; }

Settings const& settings() {
    static Settings const s = read_environment();
    return s;
}

std::vector<Complaint> take_complaints() {
    (void)settings();  // Where nobody has asked yet, nothing has been read.
    return std::exchange(complaints(), {});
}

}  // namespace sluice
