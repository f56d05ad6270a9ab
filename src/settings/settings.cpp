// The table of environment variables, and how they are read. See settings.hpp.
#include "settings/settings.hpp"

#include "base/byte_count.hpp"
#include "base/nearest.hpp"
#include "settings/reader.hpp"
#include "settings/words.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr Knob variables[] = {
    {"SLUICE", "on",
     "off: every call goes to the MPI; on: files are served; all: files, and the nonblocking "
     "collectives of MPI (MPI_Ibcast, MPI_Ialltoall ...); chain, also behind a comma: what Sluice "
     "hands on goes to the next preloaded library, not to the MPI"},
    {"SLUICE_LOG", "1",
     "0: silent; 1: warnings; 2: also a summary of each file when MPI is finalized; 3: also what "
     "is decided, what was found of the system, and, where the machine is known, what each "
     "operation was estimated to take and took"},
    {"SLUICE_RECORD", "none",
     "a file: every call on files is recorded into it, also with SLUICE=off; see docs/record.md"},
    {"SLUICE_TRACE", "none",
     "file for what each rank did and waited for, as ui.perfetto.dev opens it; behind it ,SIZE: "
     "memory of each thread (8M), the newest events of a rank are kept, up to eight times as much; "
     "last ,ranks=0-3,8: these are recorded, and no others"},
    {"SLUICE_NETWORK", "auto",
     "messages between nodes: mpi, fabric (libfabric, without MPI_THREAD_MULTIPLE) or "
     "fabric:PROVIDER; auto: fabric where its provider is one that is tested"},
    {"SLUICE_MEMORY", "256M", "staging memory of a node, for the files of one communicator"},
    {"SLUICE_WRITE_BEHIND", "0",
     "memory of a node for bytes of blocking writes, which then return at once (0: none do); "
     "SIZE,FOLDER: room in a folder of the node, whose bytes a crash of the node does not lose"},
    {"SLUICE_HINTS", "none", "hints of all files, as name=value;name=value; the program's own win"},
    {"SLUICE_STORAGE_THREADS", "2",
     "threads of a rank that wait for the device (0: the calls themselves do)"},
    {"SLUICE_PROFILE", "auto",
     "file of the machine's profile, or none; auto: where sluice calibrate writes it"},
    {"SLUICE_MPI", "auto",
     "of the command: which MPI's library, where several are installed; auto: as program or "
     "mpiexec"},
    {"SLUICE_AFFINITY", "inherit",
     "cores of the library's threads; spread: off those of the ranks; or a list such as 2,4-7"},
};

/// Words of SLUICE_TEST.
constexpr Knob of_tests[] = {
    {"ranks_per_node", "0", "pretend that nodes have this many ranks (0: as they are)"},
    {"local_aggregators", "0",
     "of all nodes, each for a group of a node's ranks (0: a node's ranks are one group)"},
    {"shared_memory", "on", "off: ranks of a node exchange messages instead"},
    {"helper", "on", "off: no helper thread, I/O advances only inside MPI_Wait and MPI_Test"},
    {"view_pieces", "1M", "file views of more pieces are not given to the MPI"},
    {"behind", "auto", "always: writes are delayed also where storage is fast"},
    {"cache", "64M", "memory of a process for the layouts of datatypes that were freed"},
    {"device", "none",
     "hdd, ssd, nvm or a file: transfers take as long as on this device; see sluice device --list"},
    {"stall", "300", "seconds without progress before each rank says where it is (0: never)"},
    {"peer_timeout", "60",
     "seconds for which libfabric may not reach a rank before operations with it fail; a process "
     "that has ended is found sooner"},
    {"libfabric", "none", "a file that is opened in place of the libfabric that would be found"},
};

/// Known, but no settings: of the command, and of the tests.
constexpr std::string_view other_variables[] = {
    "SLUICE_COMMAND",       "SLUICE_PYTHON",   "SLUICE_KEEPER", "SLUICE_DEVICE_SECRET",
    "SLUICE_SOURCE_DIR",    "SLUICE_PICTURES", "SLUICE_PRINT",  "SLUICE_NODES_INSIDE",
    "SLUICE_UPDATE_GOLDEN", "SLUICE_TEST"};
constexpr std::string_view test_variables = "SLUICE_TEST_";

bool is_of_tests(std::string_view name) {
    return std::any_of(std::begin(of_tests), std::end(of_tests),
                       [&](Knob const& knob) { return name == knob.name; });
}

void read_test_settings(Lookup const& environment, Settings& s,
                        std::vector<Complaint>& complaints) {
    auto const given = assignments(environment("SLUICE_TEST").value_or("none"), "SLUICE_TEST",
                                   is_of_tests, names_of(of_tests), complaints);
    Lookup const lookup = lookup_in(given);
    Reader reader(lookup, of_tests, complaints, "SLUICE_TEST: ");
    auto const number = [&](char const* name) {
        return reader.number(name).value_or(reader.fallback(name));
    };
    s.cache_bytes = number("cache");
    s.ranks_per_node =
        static_cast<std::int32_t>(std::min<Bytes>(number("ranks_per_node"), 1 << 30));
    s.local_aggregators =
        static_cast<std::int32_t>(std::min<Bytes>(number("local_aggregators"), 1 << 30));
    s.shared_memory = reader.word("shared_memory", {"on", "off"}).value_or(0) == 0;
    s.helper = reader.word("helper", {"on", "off"}).value_or(0) == 0;
    s.always_behind = reader.word("behind", {"auto", "always"}).value_or(0) == 1;
    s.view_pieces = number("view_pieces");
    s.stall_seconds = static_cast<double>(number("stall"));
    s.peer_seconds = static_cast<double>(number("peer_timeout"));
    s.device = lookup("device").value_or("none");
    s.libfabric = lookup("libfabric").value_or("none");
}

void read_hints_of_all(Lookup const& environment, Settings& s, std::vector<Complaint>& complaints) {
    auto const given = assignments(environment("SLUICE_HINTS").value_or("none"), "SLUICE_HINTS",
                                   is_hint, hint_names(), complaints);
    s.hints = read_hints(lookup_in(given), s.hints, complaints);
}

}  // namespace

std::span<Knob const> environment_knobs() noexcept { return variables; }
std::span<Knob const> test_knobs() noexcept { return of_tests; }

/// One word says what is served, `chain` may stand beside it.
std::optional<ServedSetting> parse_served(std::string const& text) {
    ServedSetting setting;
    bool says_what = false;
    bool const understood = for_each_word(text, [&](std::string_view word) {
        if (word == "chain") return !std::exchange(setting.chain, true);
        setting.enabled = word != "off";
        setting.collectives = word == "all";
        return (word == "off" || word == "on" || word == "all") && !std::exchange(says_what, true);
    });
    return understood ? std::optional(setting) : std::nullopt;
}

std::optional<BehindSetting> parse_behind(std::string const& text) {
    auto const comma = std::min(text.find(','), text.size());
    auto const bytes = parse_bytes(text.substr(0, comma));
    bool const names_none = comma + 1 == text.size();
    if (!bytes || names_none) return std::nullopt;
    return BehindSetting{*bytes, comma < text.size() ? text.substr(comma + 1) : std::string()};
}

/// A comma may be in the name of a file, and is between ranks.
std::optional<TraceSetting> parse_trace(std::string const& text) {
    if (text == "none") return TraceSetting{};
    constexpr std::string_view word = ",ranks=";
    auto const at = std::min(text.rfind(word), text.size());
    auto const ranks =
        at < text.size() ? RankList::parse(text.substr(at + word.size())) : RankList::all();
    std::string file = text.substr(0, at);
    auto const comma = std::min(file.rfind(','), file.size());
    auto const bytes = parse_bytes(comma < file.size() ? file.substr(comma + 1) : std::string());
    if (bytes) file.resize(comma);
    if (file.empty() || file == "none" || !ranks) return std::nullopt;
    return TraceSetting{std::move(file), bytes.value_or(TraceSetting{}.bytes), *ranks};
}

std::optional<NetworkSetting> parse_network(std::string const& text) {
    using Way = NetworkSetting::Way;
    constexpr std::string_view fabric = "fabric";
    if (text == "auto") return NetworkSetting{};
    if (text == "mpi") return NetworkSetting{Way::mpi, {}};
    if (text == fabric) return NetworkSetting{Way::fabric, {}};
    bool const names_one = text.starts_with("fabric:") && text.size() > fabric.size() + 1;
    if (!names_one) return std::nullopt;
    return NetworkSetting{Way::fabric, text.substr(fabric.size() + 1)};
}

std::vector<std::string_view> names_of(std::span<Knob const> knobs) {
    std::vector<std::string_view> names;
    for (Knob const& knob : knobs) names.emplace_back(knob.name);
    return names;
}

Complaint no_assignment(char const* variable, std::string const& part,
                        std::vector<std::string_view> const& known) {
    auto const equals = part.find('=');
    std::string const said = std::string(variable) + "=" + part;
    std::string const name = part.substr(0, equals);
    // Where no value is given, it is not the name that is wrong.
    auto const meant = equals == std::string::npos ? std::nullopt : nearest(name, known);
    if (!meant)
        return {variable, said + " is not name=value with a name that `sluice info` lists; it is "
                                 "ignored"};
    return {variable, said + ": " + name + " is not known and does nothing; did you mean " +
                          std::string(*meant) + "?"};
}

std::vector<Complaint> unknown_names(std::vector<std::string> const& names, std::string_view prefix,
                                     std::vector<std::string_view> const& known) {
    std::vector<Complaint> complaints;
    for (std::string const& name : names) {
        if (!name.starts_with(prefix)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        auto const meant = nearest(name, known);
        std::string const advice = meant ? "; did you mean " + std::string(*meant) + "?"
                                         : "; `sluice info` lists what there is";
        complaints.push_back({name, name + " is not known and does nothing" + advice});
    }
    return complaints;
}

std::vector<Complaint> unknown_variables(std::vector<std::string> names) {
    std::vector<std::string_view> known(std::begin(other_variables), std::end(other_variables));
    for (Knob const& knob : variables) known.emplace_back(knob.name);
    std::erase_if(names, [](std::string const& name) { return name.starts_with(test_variables); });
    return unknown_names(names, "SLUICE_", known);
}

Settings read_settings(Lookup const& lookup, std::vector<Complaint>& complaints) {
    Reader reader(lookup, variables, complaints);
    auto const number = [&](char const* name) {
        return reader.number(name).value_or(reader.fallback(name));
    };
    Settings s;
    if (auto const served = reader.parsed("SLUICE", parse_served))
        static_cast<ServedSetting&>(s) = *served;
    auto const all = static_cast<Bytes>(LogLevel::decisions);
    s.log = static_cast<LogLevel>(std::min(number("SLUICE_LOG"), all));
    s.memory_bytes = number("SLUICE_MEMORY");
    s.storage_threads = static_cast<int>(std::min<Bytes>(number("SLUICE_STORAGE_THREADS"), 64));
    s.profile = lookup("SLUICE_PROFILE").value_or("auto");
    s.record = lookup("SLUICE_RECORD").value_or("");
    if (s.record == "none") s.record.clear();
    s.affinity = reader.affinity("SLUICE_AFFINITY");
    if (auto const behind = reader.parsed("SLUICE_WRITE_BEHIND", parse_behind)) {
        s.hints.write_behind = behind->bytes;
        s.journal_folder = behind->folder;
    }
    if (auto const network = reader.parsed("SLUICE_NETWORK", parse_network)) s.network = *network;
    if (auto const trace = reader.parsed("SLUICE_TRACE", parse_trace)) s.trace = *trace;
    read_test_settings(lookup, s, complaints);
    read_hints_of_all(lookup, s, complaints);
    return s;
}

}  // namespace sluice
