// What the programs that run under mpiexec do with their command lines.
#pragma once
#include "tools/exit_codes.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

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

inline ParsedLine parse_line(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        std::ostringstream output, errors;
        app.exit(error, output, errors);
        return {error.get_exit_code() == 0 ? 0 : bad_usage, output.str(), errors.str()};
    }
    return {};
}

}  // namespace sluice
