// Facts that a command prints, for people as lines or for programs as one object of JSON.
#pragma once
#include "settings/settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class Facts {
public:
    /// What follows belongs to it. `key` names it in JSON; the title is for people, empty: none.
    void section(std::string key, std::string title);
    /// `part`: whose fact it is, where one section has the same facts of several; may be empty.
    void add(std::string name, std::string value, std::string part = "");
    /// Settings, with their defaults and, of the environment, what they are set to.
    void add_knobs(std::span<Knob const> knobs, bool environment);

    void print_text() const;
    void print_json() const;

private:
    struct Fact {
        std::string part, name, value;
    };
    struct Setting {
        Knob knob;
        char const* set;  ///< Null: it is not.
    };
    struct Section {
        std::string key, title;
        std::vector<Fact> facts;
        std::vector<Setting> settings;
    };

    [[nodiscard]] static std::string members_of(Section const& section);

    std::vector<Section> sections_;
};

}  // namespace sluice
