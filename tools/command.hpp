// The commands behind `sluice`: each gets the arguments after its name and returns an exit code.
#pragma once
#include "tools/exit_codes.hpp"
#include "tools/installation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

[[nodiscard]] inline bool asks_for_help(std::string_view word) {
    return word == "-h" || word == "--help";
}

int command_run(int argc, char** argv);
int command_record(int argc, char** argv);
int command_bench(int argc, char** argv);
int command_replay(int argc, char** argv);
int command_calibrate(int argc, char** argv);
int command_device(int argc, char** argv);
int command_recover(int argc, char** argv);
int command_info(int argc, char** argv);
int command_merge_trace(int argc, char** argv);
int command_simulate(int argc, char** argv);
int command_explain(int argc, char** argv);

/// A command that is a module of the Python package.
struct PythonCommand {
    std::string name, arguments, meaning;
};

/// Those of the installation, in the order of their table; empty if the package is not there.
std::vector<PythonCommand> python_commands();

/// Becomes the Python program with which a command goes on.
int command_python(std::string const& name, int argc, char** argv);

}  // namespace sluice
