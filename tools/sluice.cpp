// The `sluice` command: runs a program under the library, tells what is there. Needs no MPI itself.
#include "base/nearest.hpp"
#include "tools/command.hpp"
#include "tools/wrap.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using sluice::asks_for_help;
using sluice::bad_usage;

struct Command {
    char const* name;
    char const* usage;
    char const* meaning;
    int (*main)(int argc, char** argv);
};

constexpr Command commands[] = {
    {"run",
     "run [--abi] [--behind[=SIZE[,FOLDER]]] [--ahead[=SIZE]] [--close=behind] [--trace FILE] "
     "PROGRAM [ARGUMENT ...]",
     "run a program under Sluice, once for each rank: mpiexec -n 4 sluice run ./program; "
     "--behind: blocking writes return at once, with a FOLDER of the node when their bytes are "
     "there, which a crash of the node does not lose; --ahead: blocking collective reads are made "
     "before they are asked for; --close=behind: MPI_File_close waits for no delayed write; "
     "--trace: what each rank does goes to a file; --abi: for an interpreter "
     "with an MPI module of the standard ABI",
     sluice::command_run},
    {"record", "record [--out FILE] PROGRAM [ARGUMENT ...]",
     "run it so, and record every call on files into FILE (PROGRAM.record); with SLUICE=off the "
     "MPI "
     "serves the calls, unchanged",
     sluice::command_record},
    {"replay", "replay LOG --dir DIR [OPTION ...]",
     "make the calls of a recorded log again, at their pace and with bytes that are checked; under "
     "mpiexec; see sluice replay --help",
     sluice::command_replay},
    {"bench", "bench [OPTION ...]", "compare with the MPI's own I/O, paired; under mpiexec",
     sluice::command_bench},
    {"calibrate", "calibrate [--dir FOLDER] [OPTION ...]",
     "measure this machine and the file system of a folder, for the library's decisions; under "
     "mpiexec; see sluice calibrate --help",
     sluice::command_calibrate},
    {"simulate", "simulate [FILE.toml] [--set KEY=VALUE ...]",
     "a call of thousands of ranks in virtual time, from a description of machine and pattern; "
     "see sluice simulate --keys",
     sluice::command_simulate},
    {"explain", "explain [FILE.toml] [--pattern NAME ...]",
     "what the library would do with a pattern on a machine, and why, in words",
     sluice::command_explain},
    {"device", "device --profile NAME --mount DIR",
     "files on an emulated disk, flash or memory device, for any program; --list shows the "
     "devices; "
     "see sluice device --help",
     sluice::command_device},
    {"recover", "recover [--dry-run] [--force] [--into FILE] [--wait] FOLDER",
     "complete the files of ranks that ended without it: write what their journals in FOLDER hold "
     "(--behind=SIZE,FOLDER), make it durable, and remove them. A file that changed since is left "
     "alone, but with --force; --into names one that its file system cannot tell from a later one; "
     "--dry-run only lists; --wait, also without a FOLDER, first waits for keepers that still "
     "write. It may be ended and run again at any time",
     sluice::command_recover},
    {"merge-trace", "merge-trace FILE",
     "make FILE of the parts of a trace that lie in FILE.parts because the job was killed; sluice "
     "trace does it by itself",
     sluice::command_merge_trace},
    {"info", "info [--json] [FOLDER]",
     "version, MPI, features, environment variables and hints; --json: one object, for programs",
     sluice::command_info},
};

void describe(std::FILE* to, std::string const& usage, std::string_view meaning) {
    constexpr std::size_t of_usage = 11, of_meaning = 6;
    std::fprintf(to, "  %s\n      %s\n", sluice::wrapped("sluice " + usage, of_usage).c_str(),
                 sluice::wrapped(meaning, of_meaning).c_str());
}

int help(std::FILE* to) {
    std::fprintf(to, "sluice %s: collective MPI file I/O in the background\n\nusage:\n",
                 SLUICE_VERSION);
    for (Command const& c : commands) describe(to, c.usage, c.meaning);
    for (auto const& c : sluice::python_commands())
        describe(to, c.name + " " + c.arguments, c.meaning);
    return to == stdout ? 0 : bad_usage;
}

int help_of(Command const& command) {
    std::printf("usage: %s\n\n%s\n",
                sluice::wrapped(std::string("sluice ") + command.usage, 14).c_str(),
                sluice::wrapped(command.meaning, 0).c_str());
    return 0;
}

/// Those without a parser of their own.
bool has_no_help(Command const& command) {
    return command.main == sluice::command_run || command.main == sluice::command_info ||
           command.main == sluice::command_recover || command.main == sluice::command_merge_trace ||
           command.main == sluice::command_record;
}

Command const* command_named(std::string_view name) {
    for (Command const& c : commands)
        if (name == c.name) return &c;
    return nullptr;
}

bool is_python_command(std::string_view name) {
    for (auto const& c : sluice::python_commands())
        if (name == c.name) return true;
    return false;
}

int no_such_command(char const* name) {
    std::vector<std::string_view> names{"help", "--help", "--version"};
    for (Command const& c : commands) names.emplace_back(c.name);
    auto const in_python = sluice::python_commands();
    for (auto const& c : in_python) names.emplace_back(c.name);
    auto const meant = sluice::nearest(name, names);
    std::fprintf(stderr, "sluice: there is no %s '%s'", name[0] == '-' ? "option" : "command",
                 name);
    if (!meant) return std::fputs("\n\n", stderr), help(stderr);
    std::fprintf(stderr, "; did you mean %s? See sluice help\n", std::string(*meant).c_str());
    return bad_usage;
}

int help_wanted(int argc, char** argv) {
    if (argc < 3) return help(stdout);
    Command const* const command = command_named(argv[2]);
    char help_option[] = "--help";
    char* words[] = {help_option};
    if (!command && is_python_command(argv[2])) return sluice::command_python(argv[2], 1, words);
    return command ? help_of(*command) : no_such_command(argv[2]);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return help(stderr);
    if (asks_for_help(argv[1]) || std::strcmp(argv[1], "help") == 0) return help_wanted(argc, argv);
    if (std::strcmp(argv[1], "--version") == 0) return std::puts("sluice " SLUICE_VERSION) < 0;
    Command const* const command = command_named(argv[1]);
    if (!command && is_python_command(argv[1]))
        return sluice::command_python(argv[1], argc - 2, argv + 2);
    if (!command) return no_such_command(argv[1]);
    if (argc > 2 && asks_for_help(argv[2]) && has_no_help(*command)) return help_of(*command);
    return command->main(argc - 2, argv + 2);
}
