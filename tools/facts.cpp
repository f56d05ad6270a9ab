// See facts.hpp.
#include "tools/facts.hpp"

#include "base/printable.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

std::string member(std::string_view name, std::string const& json) {
    return quoted_for_json(name) + ": " + json;
}

std::string joined(std::vector<std::string> const& members) {
    std::string text;
    for (std::string const& one : members) text += (text.empty() ? "" : ", ") + one;
    return "{" + text + "}";
}

}  // namespace

void Facts::section(std::string key, std::string title) {
    sections_.push_back({std::move(key), std::move(title), {}, {}});
}

void Facts::add(std::string name, std::string value, std::string part) {
    sections_.back().facts.push_back({std::move(part), std::move(name), std::move(value)});
}

void Facts::add_knobs(std::span<Knob const> knobs, bool environment) {
    for (Knob const& knob : knobs) {
        char const* const set = environment ? std::getenv(knob.name) : nullptr;
        sections_.back().settings.push_back({knob, set});
    }
}

void Facts::print_text() const {
    for (Section const& section : sections_) {
        if (!section.title.empty()) std::printf("\n%s\n", section.title.c_str());
        for (Fact const& fact : section.facts) {
            std::string const name = fact.part.empty() ? fact.name : fact.part + ": " + fact.name;
            std::printf("  %-24s %s\n", name.c_str(), fact.value.c_str());
        }
        for (auto const& [knob, set] : section.settings) {
            std::printf("  %-24s %-10s %s", knob.name, knob.fallback, knob.meaning);
            if (set) std::printf("  [set to %s]", set);
            std::printf("\n");
        }
    }
}

std::string Facts::members_of(Section const& section) {
    std::vector<std::string> members, of_part;
    for (std::size_t i = 0; i < section.facts.size(); ++i) {
        Fact const& fact = section.facts[i];
        std::string const one = member(fact.name, quoted_for_json(fact.value));
        if (fact.part.empty()) {
            members.push_back(one);
            continue;
        }
        of_part.push_back(one);
        if (i + 1 < section.facts.size() && section.facts[i + 1].part == fact.part) continue;
        members.push_back(member(fact.part, joined(of_part)));
        of_part.clear();
    }
    for (auto const& [knob, set] : section.settings) {
        members.push_back(member(
            knob.name, joined({member("default", quoted_for_json(knob.fallback)),
                               member("meaning", quoted_for_json(knob.meaning)),
                               member("set", set ? quoted_for_json(set) : std::string("null"))})));
    }
    return joined(members);
}

void Facts::print_json() const {
    std::vector<std::string> members{member("version", quoted_for_json(SLUICE_VERSION))};
    members.reserve(sections_.size() + 1);
    for (Section const& section : sections_)
        members.push_back(member(section.key, members_of(section)));
    std::printf("%s\n", joined(members).c_str());
}

}  // namespace sluice
