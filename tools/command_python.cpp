// The commands that are written in Python, in python/sluice: which there are, and how one of them
// takes the place of this program.
#include "tools/command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace sluice {
namespace {

/// The folder with the package `sluice`. Of a wheel all that is installed lies in the package.
std::string package_folder() {
    bool const is_wheel = access((installation() + "/__init__.py").c_str(), F_OK) == 0;
    return is_wheel ? folder_of(installation()) : installation() + "/python";
}

std::string trimmed(std::string const& text) {
    auto const first = text.find_first_not_of(" \t");
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

}  // namespace

std::vector<PythonCommand> python_commands() {
    std::vector<PythonCommand> commands;
    std::ifstream table(package_folder() + "/sluice/commands.txt");
    for (std::string line; std::getline(table, line);) {
        auto const first = line.find('|'), second = line.find('|', first + 1);
        if (line.starts_with('#') || second == std::string::npos) continue;
        commands.push_back({trimmed(line.substr(0, first)),
                            trimmed(line.substr(first + 1, second - first - 1)),
                            trimmed(line.substr(second + 1))});
    }
    return commands;
}

/// A folder of the user's that happens to be called `sluice` must not take the package's place, nor
/// must programs that the command starts find the package: so no -m and no PYTHONPATH. Compiled
/// files would be left when an installation is removed: so -B.
int command_python(std::string const& name, int argc, char** argv) {
    constexpr char start[] = "import sys; sys.path[0] = sys.argv[1]; "
                             "from sluice.__main__ import main; sys.exit(main(sys.argv[2:]))";
    char const* const wanted = std::getenv("SLUICE_PYTHON");
    std::string const python = wanted && *wanted ? wanted : "python3", folder = package_folder();
    setenv("SLUICE_COMMAND", own_program().c_str(), 1);
    std::vector<char const*> words{python.c_str(), "-B", "-c", start, folder.c_str(), name.c_str()};
    words.insert(words.end(), argv, argv + argc);
    words.push_back(nullptr);
    execvp(words[0], const_cast<char**>(words.data()));
    std::fprintf(stderr,
                 "sluice %s: cannot run %s: %s. This command is written in Python: install Python "
                 "3.11 or later, or name one in SLUICE_PYTHON\n",
                 name.c_str(), python.c_str(), std::strerror(errno));
    return 1;
}

}  // namespace sluice
