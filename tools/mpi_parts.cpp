// What was installed for each MPI. See mpi_parts.hpp.
#include "tools/mpi_parts.hpp"

#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "tools/elf.hpp"
#include "tools/installation.hpp"
#include "tools/voice.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sluice {
namespace {

constexpr char mpich[] = "libmpi.so.12", open_mpi[] = "libmpi.so.40", standard[] = "libmpi_abi.so";
/// Debian's MPICH has another file name, and the same functions and handles.
constexpr char debian_mpich[] = "libmpich.so.12";

std::string value_of(char const* variable) {
    char const* const value = std::getenv(variable);
    return value ? value : "";
}

bool is_set(char const* variable) { return !value_of(variable).empty(); }

/// The MPI of the mpiexec that started this process, by the variables that it gives to ranks; a
/// guess, for the ways in which launchers talk to ranks are not of one MPI alone.
std::string mpi_of_launcher() {
    if (is_set("OMPI_COMM_WORLD_SIZE")) return open_mpi;
    if (is_set("PMI_SIZE") || is_set("PMI_RANK")) return mpich;
    return is_set("PMIX_RANK") ? open_mpi : "";
}

/// The MPI that a program needs, also if only a library of the program's is linked to it.
std::string mpi_among_needed(std::string const& program) {
    std::string const own = mpi_of(program);
    if (program.empty() || !own.empty()) return own;
    for (std::string const& line : needed_libraries(program)) {
        for (char const* const mpi : {standard, mpich, open_mpi})
            if (line.find(mpi) != std::string::npos) return mpi;
        if (line.find(debian_mpich) != std::string::npos) return mpich;
    }
    return "";
}

/// Those that serve the MPI; all, if none does.
std::vector<MpiPart> serving(std::string const& mpi, std::vector<MpiPart> const& parts) {
    std::vector<MpiPart> fit;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(fit), [&](MpiPart const& part) {
        return mpi == standard ? is_there(part.library(true)) : mpi_of(part.library(false)) == mpi;
    });
    return fit.empty() ? parts : fit;
}

std::string names_of(std::vector<MpiPart> const& parts) {
    std::string all;
    for (MpiPart const& part : parts) all += (all.empty() ? "" : ", ") + part.name;
    return all;
}

std::optional<MpiPart> part_named(std::string const& name, std::vector<MpiPart> const& parts) {
    auto const found = std::find_if(parts.begin(), parts.end(),
                                    [&](MpiPart const& part) { return part.name == name; });
    if (found != parts.end()) return *found;
    std::fprintf(voice_of_job(), "sluice: SLUICE_MPI=%s: installed are %s\n", name.c_str(),
                 names_of(parts).c_str());
    return std::nullopt;
}

/// A build tree serves one MPI, whatever SLUICE_MPI asks for.
void tell_of_one_mpi(MpiPart const& tree, std::string const& wanted) {
    bool const is_it = std::filesystem::path(tree.folder).filename() == wanted;
    if (wanted.empty() || wanted == "auto" || is_it || is_silent_now()) return;
    std::fprintf(voice_of_job(),
                 "sluice: SLUICE_MPI=%s has no effect: %s is a build for one MPI, and the variable "
                 "chooses among those that are installed in one place\n",
                 wanted.c_str(), tree.folder.c_str());
}

/// That of a folder itself, or of one that it lies in; empty where there is none.
std::string mpiexec_above(std::string folder, char const* ending) {
    for (; !folder.empty(); folder = folder_of(folder)) {
        std::string const plain = folder + "/bin/mpiexec";
        for (std::string const& path : {plain + ending, plain})
            if (access(path.c_str(), X_OK) == 0) return path;
    }
    return "";
}

}  // namespace

bool is_there(std::string const& file) { return access(file.c_str(), R_OK) == 0; }

std::string MpiPart::library(bool abi) const {
    return folder + (abi ? "/lib/libsluice_abi.so" : "/lib/libsluice.so");
}

std::vector<MpiPart> mpi_parts() {
    std::string const root = installation();
    std::vector<MpiPart> parts;
    std::error_code failed;
    if (!is_there(root + "/lib")) {
        for (auto const& entry : std::filesystem::directory_iterator(root, failed)) {
            if (is_there(entry.path() / "lib"))
                parts.push_back({entry.path().filename(), entry.path()});
        }
    }
    if (parts.empty()) parts.push_back({"", root});
    std::sort(parts.begin(), parts.end(),
              [](MpiPart const& a, MpiPart const& b) { return a.name < b.name; });
    return parts;
}

std::string mpi_of(std::string const& file) {
    for (char const* const mpi : {standard, mpich, open_mpi})
        if (is_linked_to(file, mpi)) return mpi;
    return is_linked_to(file, debian_mpich) ? mpich : "";
}

bool is_debians_mpich(std::string const& file) { return is_linked_to(file, debian_mpich); }

bool has_own_mpi(std::string const& program) {
    // A wrapper's definition of the function goes on to an MPI that the program needs.
    return mpi_of(program).empty() && defines(program, "MPI_Init") &&
           mpi_among_needed(program).empty();
}

std::string mpiexec_of(std::string const& library) {
    char const* const ending = library.find(open_mpi) != std::string::npos ? ".openmpi" : ".mpich";
    std::string const folder = folder_of(library);
    std::string const found = mpiexec_above(folder, ending);
    if (!found.empty()) return found;
    // The loader finds Debian's MPIs below /lib, which is a link to /usr/lib.
    std::error_code failed;
    return mpiexec_above(std::filesystem::canonical(folder, failed).string(), ending);
}

std::string mpi_in_words(std::string const& mpi) {
    if (mpi == open_mpi) return "Open MPI (libmpi.so.40)";
    if (mpi == standard) return "the standard ABI (libmpi_abi.so)";
    return "MPICH or an MPI with its ABI (" + mpi + ")";
}

std::optional<MpiPart> part_for(std::string const& program, bool abi) {
    std::vector<MpiPart> parts = mpi_parts();
    std::string const wanted = value_of("SLUICE_MPI");
    if (parts.front().name.empty()) {  // A build tree.
        tell_of_one_mpi(parts.front(), wanted);
        return parts.front();
    }
    if (!wanted.empty() && wanted != "auto") return part_named(wanted, parts);
    if (parts.size() > 1 && abi) parts = serving(standard, parts);
    if (parts.size() > 1 && !abi) parts = serving(mpi_among_needed(program), parts);
    if (parts.size() > 1) parts = serving(mpi_of_launcher(), parts);
    if (parts.size() == 1) return parts.front();
    std::fprintf(voice_of_job(),
                 "sluice: which MPI is wanted? Installed are %s; %s nor an mpiexec around tells "
                 "it: set SLUICE_MPI to one of them\n",
                 names_of(parts).c_str(),
                 program.empty() ? "neither a program" : ("neither " + program).c_str());
    return std::nullopt;
}

}  // namespace sluice
