// `sluice info`: what is here, and what can be set.
#include "base/machine.hpp"
#include "settings/settings.hpp"
#include "storage/features.hpp"
#include "storage/profile_path.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/library_thread.hpp"
#include "tools/command.hpp"
#include "tools/facts.hpp"
#include "tools/mpi_parts.hpp"
#include "tools/options.hpp"
#include "transport/fabric_offers.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace sluice {
namespace {

struct Loaded {
    std::string version;  ///< What the MPI says of itself, or why it cannot be loaded.
    std::string library;  ///< The MPI's own.
};

std::string first_line(char const* text) {
    std::istringstream first(std::string(text, std::strcspn(text, "\n")));
    std::string line;  // MPICH aligns with white space.
    for (std::string word; first >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

/// Asks the library's MPI for its name. The library is loaded, MPI is not initialised.
Loaded load(std::string const& file) {
    void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return {std::string("cannot be loaded: ") + dlerror(), ""};
    void* const function = dlsym(loaded, "PMPI_Init");
    look_for_fabric_beside(function);
    using Ask = int (*)(char*, int*);
    auto const ask = reinterpret_cast<Ask>(dlsym(loaded, "MPI_Get_library_version"));
    char text[8192] = "unknown";
    int length = 0;
    if (ask) ask(text, &length);
    Dl_info where{};
    bool const is_known = function && dladdr(function, &where) && where.dli_fname;
    return {first_line(text), is_known ? where.dli_fname : ""};
}

void add_libraries(Facts& facts, MpiPart const& part) {
    std::string const own = part.library(false), abi = part.library(true);
    facts.add("library", is_there(own) ? own : own + " (missing)", part.name);
    Loaded const loaded = load(own);
    facts.add("MPI", loaded.version, part.name);
    std::string const mpiexec = mpiexec_of(loaded.library);
    facts.add("mpiexec", mpiexec.empty() ? "none beside the MPI" : mpiexec, part.name);
    facts.add("library, standard ABI", is_there(abi) ? abi : "none: the MPI has no libmpi_abi",
              part.name);
    if (is_there(abi)) facts.add("MPI, standard ABI", load(abi).version, part.name);
}

char const* found(std::string const& path) {
    return access(path.c_str(), X_OK) == 0 ? "yes" : "no";
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

/// What a job that is started in the same way would know of itself.
void add_launcher(Facts& facts) {
    Launch const by = launched();
    auto const number = [](long value) {
        return value < 0 ? std::string("not told") : std::to_string(value);
    };
    facts.section("launcher", by.launcher ? "how this process was started" : "");
    facts.add("launcher", by.launcher ? by.launcher : "none that is known");
    if (!by.launcher) return;
    facts.add("rank", number(by.rank) + " of " + number(by.ranks));
    facts.add("rank on this node", number(by.rank_of_node) + " of " + number(by.ranks_of_node));
}

void add_threads(Facts& facts) {
    std::vector<Complaint> complaints;
    Settings const settings = read_settings(environment_variable, complaints);
    facts.add("library's threads run on", where_threads_run(settings.affinity));
}

/// Of the last MPI whose library was loaded here.
void add_fabric(Facts& facts) {
    FabricOffers const& offers = fabric_offers();
    FabricOffer const* const best = offers.best("");
    facts.add("between nodes",
              best && best->is_tested ? "libfabric: " + best->provider : "messages of the MPI");
    facts.add("libfabric", offers.library);
    for (FabricOffer const& offer : offers.all) {
        std::string const yes =
            offer.is_tested ? "yes" : "yes, if asked for: SLUICE_NETWORK=fabric:" + offer.provider;
        facts.add("libfabric: " + offer.provider,
                  offer.why_not.empty() ? yes : "no: " + offer.why_not);
    }
}

/// The library uses what a program has loaded; here is what the loader would find.
void add_gpu_drivers(Facts& facts) {
    constexpr std::pair<char const*, char const*> drivers[] = {
        {"GPUs: CUDA", "libcuda.so.1"},
        {"GPUs: HIP", "libamdhip64.so"},
        {"GPUs: Level Zero", "libze_loader.so.1"}};
    for (auto const& [name, library] : drivers) {
        bool const is_found = dlopen(library, RTLD_LAZY | RTLD_LOCAL) != nullptr;
        facts.add(name, is_found ? std::string("yes, in programs that load ") + library
                                 : std::string("no: there is no ") + library);
    }
}

void add_features(Facts& facts, std::vector<Feature> const& features, std::string const& of = "") {
    for (Feature const& one : features)
        facts.add(one.name, one.here ? "yes" : "no: " + one.instead, of);
}

void add_programs(Facts& facts, MpiPart const& part) {
    facts.add("sluice bench", found(part.folder + "/libexec/sluice-bench"), part.name);
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

void add_folder(Facts& facts, std::string const& folder) {
    facts.section("folder", "what the file system of " + folder + " has");
    auto const there = folder_features(folder);
    if (there.empty()) facts.add("not known", "no file can be made there");
    add_features(facts, there);
    facts.add("profile of the machine", profile_for(folder));
}

void add_settings(Facts& facts) {
    facts.section("environment", "environment variables, with their defaults");
    facts.add_knobs(environment_knobs(), true);
    facts.section("hints", "hints of MPI_File_open, set_view and set_info, with their defaults");
    facts.add_knobs(hint_knobs(), false);
    facts.section("experiments", "hints for experiments, and one that is only shown");
    facts.add_knobs(experiment_hint_knobs(), false);
    facts.section("tests", "for tests: words of SLUICE_TEST, as name=value;name=value");
    facts.add_knobs(test_knobs(), false);
    if (char const* const set = std::getenv("SLUICE_TEST")) facts.add("SLUICE_TEST is set to", set);
}

Facts facts_of(std::string const& folder) {
    Facts facts;
    facts.section("mpis", "");
    for (MpiPart const& part : mpi_parts()) add_libraries(facts, part);
    add_launcher(facts);
    facts.section("features", "features");
    facts.add("cores", or_unknown(process_cores()) + " of " + or_unknown(online_cores()));
    add_threads(facts);
    add_fabric(facts);
    add_gpu_drivers(facts);
    for (MpiPart const& part : mpi_parts()) add_programs(facts, part);
    facts.add("emulated device (FUSE)", found(installation() + "/libexec/sluice-device"));
    facts.section("system", "what the system has, and what serves in place of what it has not");
    add_features(facts, system_features());
    add_folder(facts, folder);
    add_settings(facts);
    return facts;
}

}  // namespace

int command_info(int argc, char** argv) {
    bool const as_json = argc > 0 && std::strcmp(argv[0], "--json") == 0;
    if (as_json) --argc, ++argv;
    std::string const folder = argc > 0 ? argv[0] : ".";
    if (folder.starts_with('-')) return no_such_option("info", folder, "--json");
    if (argc > 1 || !std::filesystem::is_directory(folder)) {
        std::fprintf(stderr, "sluice info: usage: sluice info [--json] [FOLDER]; %s is no folder\n",
                     argc > 1 ? argv[1] : folder.c_str());
        return bad_usage;
    }
    Facts const facts = facts_of(folder);
    if (as_json) return facts.print_json(), 0;
    std::printf("sluice %s\n", SLUICE_VERSION);
    facts.print_text();
    return 0;
}

}  // namespace sluice
