// `sluice info`: what is here, and what can be set.
#include "base/machine.hpp"
#include "file/plan/settings.hpp"
#include "storage/features.hpp"
#include "storage/profile_path.hpp"
#include "system/library_thread.hpp"
#include "tools/command.hpp"
#include "tools/mpi_parts.hpp"
#include "transport/fabric_endpoint.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace sluice {
namespace {

void line(char const* name, std::string const& value) {
    std::printf("  %-24s %s\n", name, value.c_str());
}

/// Asks the library's MPI for its name. The library is loaded, MPI is not initialised.
std::string mpi_version(std::string const& file) {
    void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return std::string("cannot be loaded: ") + dlerror();
    look_for_fabric_beside(dlsym(loaded, "PMPI_Init"));
    using Ask = int (*)(char*, int*);
    auto const ask = reinterpret_cast<Ask>(dlsym(loaded, "MPI_Get_library_version"));
    char text[8192] = "unknown";
    int length = 0;
    if (ask) ask(text, &length);
    std::istringstream first(std::string(text, std::strcspn(text, "\n")));
    std::string line;  // MPICH aligns with white space.
    for (std::string word; first >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

bool is_there(std::string const& file) { return access(file.c_str(), R_OK) == 0; }

/// Of one of several MPIs in an installation: with its name.
void line_of(MpiPart const& part, std::string const& name, std::string const& value) {
    line((part.name.empty() ? name : part.name + ": " + name).c_str(), value);
}

void print_libraries(MpiPart const& part) {
    std::string const own = part.library(false), abi = part.library(true);
    line_of(part, "library", is_there(own) ? own : own + " (missing)");
    line_of(part, "MPI", mpi_version(own));
    line_of(part, "library, standard ABI", is_there(abi) ? abi : "none: the MPI has no libmpi_abi");
    if (is_there(abi)) line_of(part, "MPI", mpi_version(abi));
}

char const* found(std::string const& path) {
    return access(path.c_str(), X_OK) == 0 ? "yes" : "no";
}

void print_knobs(char const* title, std::span<Knob const> knobs, bool environment = false) {
    std::printf("\n%s\n", title);
    for (Knob const& knob : knobs) {
        char const* const set = environment ? std::getenv(knob.name) : nullptr;
        std::printf("  %-24s %-10s %s", knob.name, knob.fallback, knob.meaning);
        if (set) std::printf("  [set to %s]", set);
        std::printf("\n");
    }
}

std::string or_unknown(Cores const& cores) { return cores.empty() ? "not known" : cores.text(); }

/// The cores of the ranks, which `spread` goes by, are known in a job only.
std::string where_threads_run(Affinity const& affinity) {
    CoresSeen const seen{process_cores(), online_cores(), {}};
    Cores const chosen = choose_cores(affinity, seen);
    if (affinity.way == Affinity::Way::spread) {
        return or_unknown(chosen) + ", in a job without those of the ranks while others are left";
    }
    Cores const granted = granted_cores(chosen);
    std::string const refused = granted == chosen ? "" : " (the system refuses others)";
    return or_unknown(granted) + refused;
}

void print_threads() {
    std::vector<Complaint> complaints;
    Settings const settings = read_settings(
        [](char const* name) -> std::optional<std::string> {
            char const* const value = std::getenv(name);
            return value ? std::optional<std::string>(value) : std::nullopt;
        },
        complaints);
    line("library's threads run on", where_threads_run(settings.affinity));
}

/// What `sluice bench kernels` was built with.
std::vector<Feature> libraries_of_kernels() {
    std::vector<Feature> all{{"bench kernels: zlib", false, "no compression by it"},
                             {"bench kernels: zstd", false, "no compression by it"},
                             {"bench kernels: FFTW", false, "no transforms"}};
#ifdef SLUICE_HAVE_ZLIB
    all[0].here = true;
#endif
#ifdef SLUICE_HAVE_ZSTD
    all[1].here = true;
#endif
#ifdef SLUICE_HAVE_FFTW3
    all[2].here = true;
#endif
    return all;
}

/// Of the last MPI whose library was loaded here.
void print_fabric() {
    FabricOffers const& offers = fabric_offers();
    FabricOffer const* const best = offers.best("");
    line("between nodes",
         best && best->is_tested ? "libfabric: " + best->provider : "messages of the MPI");
    line("libfabric", offers.library);
    for (FabricOffer const& offer : offers.all) {
        std::string const yes =
            offer.is_tested ? "yes" : "yes, if asked for: SLUICE_NETWORK=fabric:" + offer.provider;
        line(("libfabric: " + offer.provider).c_str(),
             offer.why_not.empty() ? yes : "no: " + offer.why_not);
    }
}

void print_features(std::vector<Feature> const& features) {
    for (Feature const& one : features) {
        line(one.name.c_str(), one.here ? "yes" : "no: " + one.instead);
    }
}

void print_programs(MpiPart const& part) {
    line_of(part, "sluice bench", found(part.folder + "/libexec/sluice-bench"));
    std::string const kernels = part.folder + "/libexec/sluice-collectives";
    line_of(part, "sluice bench kernels", found(kernels));
    if (is_there(kernels)) print_features(libraries_of_kernels());
}

/// Which profile the library would load for a file in the folder, and whether it could.
std::string profile_for(std::string const& folder) {
    char const* const set = std::getenv("SLUICE_PROFILE");
    std::string const wanted = set ? set : "auto";
    if (wanted == "none") return "none: SLUICE_PROFILE says so";
    std::string const path = wanted == "auto" ? profile_path(folder) : wanted;
    if (path.empty()) return "none: no home folder, or an unknown file system";
    if (wanted == "auto" && access(path.c_str(), F_OK) != 0)
        return "none; sluice calibrate --dir " + folder + " writes " + path;
    std::string error;
    auto const text = text_of_file(path, error);
    if (!text) return "none: " + error;
    auto const machine = machine_described(*text, error);
    if (!machine) return "none: " + path + ": " + error;
    return path + " (" + (machine->is_measured() ? machine->measured : "not measured") + ")";
}

}  // namespace

int command_info(int argc, char** argv) {
    std::string const folder = argc > 0 ? argv[0] : ".";
    if (argc > 1 || folder.starts_with('-') || !std::filesystem::is_directory(folder)) {
        std::fprintf(stderr, "sluice info: usage: sluice info [FOLDER]; %s is no folder\n",
                     argc > 1 ? argv[1] : folder.c_str());
        return bad_usage;
    }
    std::string const root = installation();
    std::printf("sluice %s\n", SLUICE_VERSION);
    for (MpiPart const& part : mpi_parts()) print_libraries(part);
    line("cores", or_unknown(process_cores()) + " of " + or_unknown(online_cores()));
    std::printf("\nfeatures\n");
    print_threads();
    print_fabric();
    for (MpiPart const& part : mpi_parts()) print_programs(part);
    line("emulated device (FUSE)", found(root + "/libexec/sluice-device"));
    std::printf("\nwhat the system has, and what serves in place of what it has not\n");
    print_features(system_features());
    std::printf("\nwhat the file system of %s has\n", folder.c_str());
    auto const found = folder_features(folder);
    if (found.empty()) line("not known", "no file can be made there");
    print_features(found);
    line("profile of the machine", profile_for(folder));
    print_knobs("environment variables, with their defaults", environment_knobs(), true);
    print_knobs("hints of MPI_File_open, set_view and set_info, with their defaults", hint_knobs());
    print_knobs("hints for experiments, and one that is only shown", experiment_hint_knobs());
    print_knobs("for tests: words of SLUICE_TEST, as name=value;name=value", test_knobs());
    if (char const* const set = std::getenv("SLUICE_TEST")) line("SLUICE_TEST is set to", set);
    return 0;
}

}  // namespace sluice
