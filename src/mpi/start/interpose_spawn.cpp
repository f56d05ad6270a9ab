// The library's MPI_Comm_spawn preloads the processes that a preloaded program spawns. Launchers
// give them the environment of the job and not that of the process that spawns them, so it spawns
// `env`, which sets the variables and becomes the program.
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/preload.hpp"

#include <cstdlib>
#include <filesystem>
#include <mpi.h>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace sluice {
namespace {

constexpr char const* env_program = "/usr/bin/env";

bool is_program(std::string const& file) {
    std::error_code missing;
    return std::filesystem::is_regular_file(file, missing) && access(file.c_str(), X_OK) == 0;
}

/// Whether `env` would find the program that the launcher finds: by a path, or in a folder of PATH.
/// What has a `=` in it `env` takes for a variable.
bool is_found_alike(std::string const& command) {
    if (command.find('=') != std::string::npos) return false;
    if (command.find('/') != std::string::npos) return true;
    char const* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (is_program(folder + "/" + command)) return true;
    }
    return false;
}

/// The launcher is told where to look, or on which kind of machine: not what this process sees.
bool says_where(MPI_Info info) {
    for (char const* key : {"path", "arch", "file"}) {
        int length = 0, found = 0;
        if (info != MPI_INFO_NULL) PMPI_Info_get_valuelen(info, key, &length, &found);
        if (found) return true;
    }
    return false;
}

/// One command as it is given to the MPI.
class Command {
public:
    Command(char const* command, char** arguments, MPI_Info info)
        : command_(const_cast<char*>(command)),
          arguments_(arguments) {
        bool const may = settings().enabled && !preloaded_path().empty() && command;
        if (!may || says_where(info) || !is_found_alike(command) || !is_program(env_program)) {
            return;
        }
        char const* const others = std::getenv("LD_PRELOAD");
        preload_ = "LD_PRELOAD=" + preloaded_path() + (others ? ":" + std::string(others) : "");
        all_ = {preload_.data(), command_};
        for (char** each = arguments; each != MPI_ARGV_NULL && *each; ++each) all_.push_back(*each);
        all_.push_back(nullptr);
        command_ = const_cast<char*>(env_program);
        arguments_ = all_.data();
    }
    Command(Command const&) = delete;
    Command& operator=(Command const&) = delete;

    [[nodiscard]] char* command() const { return command_; }
    [[nodiscard]] char** arguments() const { return arguments_; }

private:
    char* command_;
    char** arguments_;
    std::string preload_;
    std::vector<char*> all_;
};

/// Several commands; only the root's arguments count.
struct Commands {
    std::vector<std::unique_ptr<Command>> all;
    std::vector<char*> commands;
    std::vector<char**> arguments;

    Commands(int count, char** given, char*** arguments_given, MPI_Info const* infos) {
        for (int i = 0; i < count; ++i) {
            char** const each =
                arguments_given == MPI_ARGVS_NULL ? MPI_ARGV_NULL : arguments_given[i];
            all.push_back(std::make_unique<Command>(given[i], each, infos[i]));
            commands.push_back(all.back()->command());
            arguments.push_back(all.back()->arguments());
        }
    }
};

/// MPI_ARGVS_NULL says of all that they have none; in a list an empty one does.
void complete(std::vector<char**>& arguments) {
    static char* nothing = nullptr;
    for (auto& each : arguments) {
        if (each == MPI_ARGV_NULL) each = &nothing;
    }
}

}  // namespace
}  // namespace sluice

extern "C" {

int MPI_Comm_spawn(char const* command, char* argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm* intercomm, int codes[]) try {
    if (sluice::rank_in(comm) != root) {
        return SLUICE_PMPI(MPI_Comm_spawn)(command, argv, maxprocs, info, root, comm, intercomm,
                                           codes);
    }
    sluice::Command const its(command, argv, info);
    return SLUICE_PMPI(MPI_Comm_spawn)(its.command(), its.arguments(), maxprocs, info, root, comm,
                                       intercomm, codes);
}
SLUICE_NO_MEMORY(comm)

int MPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], int const maxprocs[],
                            MPI_Info const infos[], int root, MPI_Comm comm, MPI_Comm* intercomm,
                            int codes[]) try {
    if (sluice::rank_in(comm) != root) {
        return SLUICE_PMPI(MPI_Comm_spawn_multiple)(count, commands, argvs, maxprocs, infos, root,
                                                    comm, intercomm, codes);
    }
    sluice::Commands its(count, commands, argvs, infos);
    sluice::complete(its.arguments);
    return SLUICE_PMPI(MPI_Comm_spawn_multiple)(count, its.commands.data(), its.arguments.data(),
                                                maxprocs, infos, root, comm, intercomm, codes);
}
SLUICE_NO_MEMORY(comm)

}  // extern "C"
