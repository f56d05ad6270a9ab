// What the programs that run under mpiexec do with their command lines.
#pragma once
#include "tools/exit_codes.hpp"
#include "tools/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace sluice {

/// What a command line said, before there is an MPI that knows who may speak.
struct ParsedLine {
    std::optional<int> exit_code;  ///< The program ends with it.
    std::string output, errors;    ///< The help, or what is wrong.

    /// By the one that may speak.
    void tell() const {
        std::cout << output << std::flush;
        std::cerr << errors;
    }
};

/// Of words that no option takes: the first that looks like one, and what may have been meant.
inline std::string unknown_option(CLI::App& app) {
    auto const left = app.remaining(true);
    auto const wrong = std::find_if(left.rbegin(), left.rend(),
                                    [](auto const& word) { return word.starts_with("--"); });
    if (wrong == left.rend()) return "";
    std::vector<std::string> names;
    auto const add_names = [&](CLI::App const& of) {
        for (CLI::Option const* const option : of.get_options())
            for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
    };
    add_names(app);
    for (CLI::App const* const part : app.get_subcommands()) add_names(*part);
    return no_option_in_words(*wrong, {names.begin(), names.end()}) + "\n";
}

inline ParsedLine parse_line(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        std::ostringstream output, errors;
        app.exit(error, output, errors);
        if (error.get_exit_code() == 0) return {0, output.str(), errors.str()};
        return {bad_usage, output.str(), unknown_option(app) + errors.str()};
    }
    return {};
}

}  // namespace sluice
