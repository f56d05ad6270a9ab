// `sluice run`, `sluice bench` and `sluice calibrate`: set the preload and become the program.
#include "base/byte_count.hpp"
#include "behind/journal_folder.hpp"
#include "settings/file_hints.hpp"
#include "settings/reader.hpp"
#include "settings/settings.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "tools/command.hpp"
#include "tools/elf.hpp"
#include "tools/keeper.hpp"
#include "tools/mpi_parts.hpp"
#include "tools/options.hpp"
#include "tools/preload_path.hpp"
#include "tools/voice.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace sluice {
namespace {

bool preload(std::string const& file) {
    if (access(file.c_str(), R_OK) != 0) {
        std::fprintf(voice_of_node(),
                     "sluice: %s is missing: build or install Sluice for your MPI first\n",
                     file.c_str());
        return false;
    }
    std::string const name = name_for_preload(file);
    if (name.empty()) {
        std::fprintf(voice_of_node(),
                     "sluice: %s cannot be preloaded: LD_PRELOAD ends a name at a blank or a "
                     "colon, and no link to its folder can be made in /tmp. Install Sluice in a "
                     "folder without them\n",
                     file.c_str());
        return false;
    }
    char const* const before = std::getenv("LD_PRELOAD");
    std::string const all = before && *before ? name + ":" + before : name;
    return setenv("LD_PRELOAD", all.c_str(), 1) == 0;
}

int become(char** argv) {
    execvp(argv[0], argv);
    int const error = errno;
    std::fprintf(voice_of_node(), "sluice: cannot run %s: %s\n", argv[0], std::strerror(error));
    return error == ENOENT ? 127 : 126;
}

bool switched_off() { return !served_now().enabled; }

/// Calls are recorded also where the MPI serves them.
bool is_recorded() {
    char const* const file = std::getenv("SLUICE_RECORD");
    return file && *file && std::strcmp(file, "none") != 0;
}

/// The file that execvp() would start; the name itself if there is none.
std::string program_file(std::string const& program) {
    char const* const path = std::getenv("PATH");
    if (!path || program.find('/') != std::string::npos) return program;
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string const file = (folder.empty() ? "." : folder) + "/" + program;
        if (access(file.c_str(), X_OK) == 0) return file;
    }
    return program;
}

/// Two MPIs in one process end in undefined symbols or worse: this is said before they meet.
bool fits(std::string const& program, std::string const& preloaded) {
    std::string const theirs = mpi_of(program), ours = mpi_of(preloaded);
    if (theirs.empty() || ours.empty()) return true;
    if (theirs == ours && is_debians_mpich(program) == is_debians_mpich(preloaded)) return true;
    if (is_debians_mpich(program)) {
        std::fprintf(voice_of_job(),
                     "sluice: %s uses Debian's MPICH (libmpich.so.12), but %s was built for "
                     "another one: use the sluice command of a build for it (make build "
                     "MPI=debian-mpich)\n",
                     program.c_str(), preloaded.c_str());
        return false;
    }
    std::fprintf(voice_of_job(),
                 "sluice: %s uses %s, but %s was built for %s: use the sluice command of that "
                 "MPI's build\n",
                 program.c_str(), mpi_in_words(theirs).c_str(), preloaded.c_str(),
                 mpi_in_words(ours).c_str());
    return false;
}

/// The preload reaches only what the dynamic loader binds. Whoever waits for Sluice there is told.
void tell_out_of_reach(std::string const& program) {
    if (is_silent_now()) return;
    char const* const kind = is_static(program)     ? "is linked statically"
                             : has_own_mpi(program) ? "has an MPI linked into it statically"
                                                    : nullptr;
    if (!kind) return;
    std::fprintf(voice_of_job(),
                 "sluice: %s %s: its calls of MPI do not reach a library that is preloaded, so the "
                 "MPI serves everything. Link it to the MPI's shared library\n",
                 program.c_str(), kind);
}

constexpr std::string_view trace = "--trace";

bool is_size(std::string const& value) { return parse_bytes(value).has_value(); }
bool is_behind(std::string const& value) { return parse_behind(value).has_value(); }
bool is_close(std::string const& value) {
    std::vector<Complaint> complaints;
    (void)read_hints(lookup_in({{"sluice_close", value}}), {}, complaints);
    return complaints.empty();
}
bool is_trace(std::string const& value) { return parse_trace(value).has_value(); }

constexpr char run_usage[] = "usage: mpiexec -n RANKS sluice run [--abi] "
                             "[--behind[=SIZE[,FOLDER]]] [--ahead[=SIZE]] "
                             "[--close=behind] [--trace FILE] PROGRAM [ARGUMENT ...]\n";
constexpr char record_usage[] = "usage: mpiexec -n RANKS sluice record [--out FILE] [--abi] "
                                "[--behind[=SIZE[,FOLDER]]] [--ahead[=SIZE]] "
                                "[--close=behind] [--trace FILE] PROGRAM [ARGUMENT ...]\n";

/// An option that stands for a variable.
struct VariableOption {
    std::string_view name;
    char const *variable, *usual;  ///< The value that goes without saying.
    bool (*is_right)(std::string const&);
    char const* wanted;
    char const* hint = nullptr;  ///< The variable has hints, of which it sets this one.
};
constexpr VariableOption variable_options[] = {
    {"--behind", "SLUICE_WRITE_BEHIND", "256M", is_behind,
     "a number of bytes such as 256M, nor one with a folder: 4G,/local/disk"},
    {"--ahead", "SLUICE_HINTS", "256M", is_size, "a number of bytes such as 256M",
     "sluice_read_ahead"},
    {"--close", "SLUICE_HINTS", "", is_close, "behind, nor durable or complete", "sluice_close"},
    {trace, "SLUICE_TRACE", "", is_trace,
     "the name of a file for the trace, nor one with a size or ranks: t.json,16M,ranks=0-3,8"},
};

/// SLUICE_HINTS with one more hint, in front: of two values the last one holds, so what the user
/// says there wins.
std::string with_hint(std::string const& hint) {
    std::string const there = environment_variable("SLUICE_HINTS").value_or("");
    return there.empty() || there == "none" ? hint : hint + ";" + there;
}

/// What the variable of an option is set to.
std::string value_for(VariableOption const& option, std::string const& value) {
    std::error_code error;  // The program may change its working folder.
    if (option.name == trace) return std::filesystem::absolute(value, error);
    return option.hint ? with_hint(option.hint + ("=" + value)) : value;
}

/// Sets the variable that an option stands for; false, and says why, where there is no such option.
bool takes_setting(std::string_view command, std::string_view text) {
    auto const equals = std::min(text.find('='), text.size());
    for (VariableOption const& option : variable_options) {
        if (text.substr(0, equals) != option.name) continue;
        std::string const value(equals < text.size() ? text.substr(equals + 1) : option.usual);
        if (option.is_right(value))
            return setenv(option.variable, value_for(option, value).c_str(), 1) == 0;
        std::fprintf(voice_of_job(), "sluice run: '%s' is not %s\n", value.c_str(), option.wanted);
        return false;
    }
    no_such_option(command, text, command == "record" ? record_usage : run_usage);
    return false;
}

/// The program may change its working folder.
void name_folder_for_good(BehindSetting& setting) {
    std::error_code error;
    auto const path = std::filesystem::absolute(setting.folder, error);
    if (error || path == setting.folder) return;
    setting.folder = path;
    std::string const value = std::to_string(setting.bytes) + "," + setting.folder;
    setenv("SLUICE_WRITE_BEHIND", value.c_str(), 1);
}

/// One rank of the node speaks for all.
void say_of_node(std::string const& text) {
    if (!text.empty()) std::fprintf(voice_of_node(), "sluice run: %s\n", text.c_str());
}

/// Keepers in memory end with what a resource manager kills as a whole, and nothing is left then.
void tell_what_ends_keepers() {
    if (is_silent_now()) return;
    std::string groups;
    std::getline(std::ifstream("/proc/self/cgroup"), groups, '\0');
    std::string const manager =
        number_in_environment("SLURM_STEP_NUM_TASKS") > 0 ? "Slurm" : manager_of(groups);
    if (manager.empty()) return;
    say_of_node(manager +
                " may end the processes that keep delayed writes together with the ranks, "
                "and the writes of a rank that is killed are lost then. A folder keeps "
                "them: --behind=SIZE,/dev/shm, and `sluice recover /dev/shm` on each "
                "node after the job, as docs/start/slurm.md shows");
}

void tell_of_idle_close() {
    std::string const hints = environment_variable("SLUICE_HINTS").value_or("");
    if (hints.find("sluice_close=behind") == std::string::npos || is_silent_now()) return;
    say_of_node("sluice_close=behind does nothing where no write is delayed: add --behind");
}

/// Where writes may be delayed somebody has to write them if the program cannot any more.
void keep_delayed_writes() {
    char const* const asked = std::getenv("SLUICE_WRITE_BEHIND");
    auto setting = asked ? parse_behind(asked) : std::nullopt;
    if (!setting || setting->bytes <= 0) return tell_of_idle_close();
    bool const in_folder = !setting->folder.empty();
    if (in_folder) {
        name_folder_for_good(*setting);
        say_of_node(left_journals_in_words(setting->folder));
    } else {
        tell_what_ends_keepers();
    }
    Bytes const share = setting->bytes / launched().sharing_node();
    std::string const why = start_keeper(journal_bytes_for(share), setting->folder);
    if (why.empty()) return;
    if (in_folder)  // The library tries as well, and says what becomes of the writes.
        say_of_node("no journal of delayed writes in " + setting->folder + ": " + why);
    else
        say_of_node("the system grants no process that keeps delayed writes: they are lost if a "
                    "rank is killed (" +
                    why + ")");
}

/// The part whose program it becomes; for help any will do.
std::optional<MpiPart> part_for_own(int argc, char** argv) {
    bool const is_help = std::any_of(argv, argv + argc, asks_for_help);
    return is_help ? mpi_parts().front() : part_for("", false);
}

/// A build may have left them out.
bool is_built(std::string const& program) {
    if (access(program.c_str(), X_OK) == 0) return true;
    std::fprintf(voice_of_node(),
                 "sluice: %s was not built: `make build` makes it, and a cmake build of all "
                 "targets, where CLI11 is there (libcli11-dev)\n",
                 program.c_str());
    return false;
}

/// Becomes one of Sluice's own programs, with the library for its MPI.
int become_own(MpiPart const& part, char const* name, char** argv) {
    std::string program = part.folder + "/libexec/" + name;
    if (!is_built(program)) return 1;
    if (!switched_off() && !preload(part.library(false))) return 1;
    argv[0] = program.data();
    return become(argv);
}

/// Whether the word before the program is an option that may have a value, and the program's name
/// could be that value.
bool takes_as_value(std::string_view option, std::string const& word) {
    auto const found = std::ranges::find(variable_options, option, &VariableOption::name);
    return found != std::end(variable_options) && found->is_right(word);
}

/// `sluice run`, and what `sluice record` does beside its log.
int run(std::string_view command, int argc, char** argv) {
    bool forced = false;
    std::string last;
    for (; argc > 0 && argv[0][0] == '-'; --argc, ++argv) {
        last = argv[0];
        bool const is_abi = std::strcmp(argv[0], "--abi") == 0;
        std::string option = argv[0];
        if (option == trace && argc > 1) {  // Its value is the next word.
            last.clear();
            option = option + "=" + argv[1];
            --argc, ++argv;
        }
        if (!is_abi && !takes_setting(command, option)) return bad_usage;
        forced |= is_abi;
    }
    if (argc < 1) {
        std::fputs(run_usage, voice_of_job());
        return bad_usage;
    }
    std::string const program = program_file(argv[0]);
    if (takes_as_value(last, argv[0]) && access(program.c_str(), X_OK) != 0) {
        std::fprintf(voice_of_job(), "sluice %s: there is no program %s: did you mean %s=%s?\n",
                     std::string(command).c_str(), argv[0], last.c_str(), argv[0]);
        return bad_usage;
    }
    if (switched_off() && !is_recorded()) return become(argv);
    bool const abi = forced || is_linked_to(program, "libmpi_abi.so");
    auto const part = part_for(program, abi);
    if (!part || !fits(program, part->library(abi))) return bad_usage;
    if (!preload(part->library(abi))) return 1;
    tell_out_of_reach(program);
    if (!switched_off()) keep_delayed_writes();
    return become(argv);
}

/// A program of the study of the papers: study/README.md. It is built on request, and no package
/// has it.
struct StudyProgram {
    std::string_view name;  ///< Behind `sluice bench`.
    char const* program;
    bool calls_mpi = true;
    bool takes_name = false;  ///< One program for several names.
};
constexpr StudyProgram study_programs[] = {{"exchange", "sluice-exchange", false},
                                           {"nvm", "sluice-nvm", false},
                                           {"storage", "sluice-storage"},
                                           {"study", "sluice-study"},
                                           {"overhead", "sluice-collectives", true, true},
                                           {"kernels", "sluice-collectives", true, true}};

StudyProgram const* study_program(std::string_view name) {
    auto const* const found = std::ranges::find(study_programs, name, &StudyProgram::name);
    return found == std::end(study_programs) ? nullptr : found;
}

int become_study(StudyProgram const& study, int argc, char** argv) {
    auto const part = study.calls_mpi ? part_for_own(argc, argv) : mpi_parts().front();
    if (!part) return bad_usage;
    std::string program = part->folder + "/study/" + study.program;
    if (access(program.c_str(), X_OK) != 0) {
        std::fprintf(
            voice_of_node(),
            "sluice: bench %.*s is a part of the study of the papers, and %s was not "
            "built: `make build TARGETS=study` in the sources makes it (study/README.md)\n",
            int(study.name.size()), study.name.data(), program.c_str());
        return 1;
    }
    // The interposed collectives take part; whoever wants them left out says so.
    if (study.takes_name) setenv("SLUICE", "all", 0);
    // Storage is measured by itself.
    bool const preloads = study.calls_mpi && study.name != "storage" && !switched_off();
    if (preloads && !preload(part->library(false))) return 1;
    if (study.takes_name) --argv;  // The name "bench" makes room for the program's.
    argv[0] = program.data();
    return become(argv);
}

}  // namespace

int command_run(int argc, char** argv) { return run("run", argc, argv); }

/// `sluice record`: `sluice run` with a log, which lies where the ranks begin.
int command_record(int argc, char** argv) {
    std::string log;
    if (argc > 1 && std::strcmp(argv[0], "--out") == 0)
        log = argv[1], argc -= 2, argv += 2;
    else if (argc > 0 && std::strncmp(argv[0], "--out=", 6) == 0)
        log = argv[0] + 6, --argc, ++argv;
    int program = 0;
    while (program < argc && argv[program][0] == '-') ++program;
    if (program == argc) {
        std::fputs(record_usage, voice_of_job());
        return bad_usage;
    }
    if (log.empty()) log = std::filesystem::path(argv[program]).filename().string() + ".record";
    std::error_code error;
    log = std::filesystem::absolute(log, error).string();
    setenv("SLUICE_RECORD", log.c_str(), 1);
    return run("record", argc, argv);
}

int command_bench(int argc, char** argv) {
    if (auto const* const program = argc > 0 ? study_program(argv[0]) : nullptr)
        return become_study(*program, argc, argv);
    auto const part = part_for_own(argc, argv);
    if (!part) return bad_usage;
    // The name "bench" makes room for the program's.
    return become_own(*part, "sluice-bench", argv - 1);
}

int command_replay(int, char** argv) {
    auto const part = part_for("", false);
    if (!part) return bad_usage;
    if (!switched_off()) keep_delayed_writes();
    unsetenv("SLUICE_RECORD");  // The name "replay" makes room for the program's.
    return become_own(*part, "sluice-replay", argv - 1);
}

/// What an earlier profile says must not shape the calls that are measured.
int command_calibrate(int argc, char** argv) {
    auto const part = part_for_own(argc, argv);
    if (!part) return bad_usage;
    setenv("SLUICE_PROFILE", "none", 1);
    // The name "calibrate" makes room for the program's.
    return become_own(*part, "sluice-calibrate", argv - 1);
}

}  // namespace sluice
