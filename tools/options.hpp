// What is said of an option that there is not, with the one that may have been meant.
#pragma once
#include "base/nearest.hpp"
#include "tools/exit_codes.hpp"
#include "tools/voice.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The options that a help text names.
[[nodiscard]] inline std::vector<std::string_view> options_in(std::string_view help) {
    std::vector<std::string_view> names;
    for (auto at = help.find("--"); at != help.npos; at = help.find("--", at)) {
        auto const end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
        auto const name = help.substr(at, end == help.npos ? end : end - at);
        if (name.size() > 2) names.push_back(name);
        at += name.size();
    }
    return names;
}

/// "there is no option '--trcae'; did you mean --trace?" What is behind a = is no part of a name.
[[nodiscard]] inline std::string no_option_in_words(std::string_view word,
                                                    std::vector<std::string_view> const& known) {
    std::string_view const name = word.substr(0, word.find('='));
    auto const meant = nearest(name, known);
    return "there is no option '" + std::string(name) + "'" +
           (meant ? "; did you mean " + std::string(*meant) + "?" : "");
}

/// Where more is said, behind what is said already.
[[nodiscard]] inline std::string with_reference(std::string said, std::string const& where) {
    said += said.ends_with('?') ? " See " : "; see ";
    return said + where;
}

/// Says so for a command whose help names all of its options; the exit code.
inline int no_such_option(std::string_view command, std::string_view word, std::string_view help) {
    auto known = options_in(help);
    known.emplace_back("--help");
    auto const said = with_reference(no_option_in_words(word, known),
                                     "sluice " + std::string(command) + " --help");
    std::fprintf(voice_of_job(), "sluice %.*s: %s\n", int(command.size()), command.data(),
                 said.c_str());
    return bad_usage;
}

/// Of a command line that is not understood: names the option that there is not, or the usage.
inline int not_understood(std::string_view command, int argc, char** argv, std::string_view help) {
    auto const known = options_in(help);
    for (int i = 0; i < argc; ++i) {
        std::string_view const word = argv[i];
        bool const is_known = std::find(known.begin(), known.end(), word) != known.end();
        if (word.starts_with("--") && !is_known) return no_such_option(command, word, help);
    }
    std::fprintf(voice_of_job(), "%.*s", int(help.size()), help.data());
    return bad_usage;
}

/// The help that was asked for.
inline int tell(std::string_view help) {
    std::printf("%.*s", int(help.size()), help.data());
    return 0;
}

}  // namespace sluice
