// Environments and hints that tests of settings hand in.
#pragma once
#include "settings/settings.hpp"

#include <map>

namespace sluice::testing {

using Table = std::map<std::string, std::string>;

inline Lookup lookup_in(Table const& table) {
    return [table](char const* name) -> std::optional<std::string> {
        auto const found = table.find(name);
        return found == table.end() ? std::nullopt : std::optional(found->second);
    };
}

struct ReadSettings {
    explicit ReadSettings(Table const& table)
        : settings(read_settings(lookup_in(table), complaints)) {}
    std::vector<Complaint> complaints;
    Settings settings;
};

struct ReadHints {
    explicit ReadHints(Table const& table, FileHints before = {})
        : hints(read_hints(lookup_in(table), before, complaints)) {}
    std::vector<Complaint> complaints;
    FileHints hints;
};

/// Nothing that a user may reasonably mean by any knob.
inline constexpr char const* nonsense[] = {"",
                                           " ",
                                           "-1",
                                           "1x",
                                           "K",
                                           "1 K",
                                           "0x10",
                                           "1.5",
                                           "1e3",
                                           "16MB",
                                           "16Mi",
                                           "1KK",
                                           "maybe",
                                           "ON",
                                           "éß",
                                           "\n",
                                           "9223372036854775808",
                                           "9223372036854775807G",
                                           "%s%n"};

}  // namespace sluice::testing
