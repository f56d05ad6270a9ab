// Reading of settings and hints. See settings.hpp.
#include "core/settings.hpp"

#include "core/byte_count.hpp"
#include "core/nearest.hpp"

#include <charconv>
#include <map>

namespace sluice {
namespace {

constexpr Knob environment[] = {
    {"SLUICE", "on", "off: every call goes to the MPI"},
    {"SLUICE_LOG", "1", "0: silent, 1: warnings, 2: what is decided, once a file"},
    {"SLUICE_STATS", "0",
     "1: rank 0 prints a summary of each file when MPI is finalized; 2: also what each operation "
     "was estimated to take and took, where the machine is known"},
    {"SLUICE_COLLECTIVES", "0",
     "1: the nonblocking collectives of MPI (MPI_Ibcast, MPI_Ialltoall ...) are served, too"},
    {"SLUICE_PROGRESS", "thread", "calls: no helper thread, progress only inside MPI calls"},
    {"SLUICE_CHAIN", "off", "on: calls go on to the next preloaded library, not to the MPI"},
    {"SLUICE_MEMORY", "256M", "staging memory of a node, for the files of one communicator"},
    {"SLUICE_CACHE", "64M", "memory of a process for the layouts of datatypes that were freed"},
    {"SLUICE_RANKS_PER_NODE", "0", "pretend that nodes have this many ranks (0: as they are)"},
    {"SLUICE_SHARED_MEMORY", "on", "off: ranks of a node exchange messages instead"},
    {"SLUICE_VIEW_PIECES", "1M", "file views of more pieces are not given to the MPI"},
    {"SLUICE_STALL", "300",
     "seconds without progress before each rank says where it is (0: never)"},
    {"SLUICE_HINTS", "none", "hints of all files, as name=value;name=value; the program's own win"},
    {"SLUICE_STORAGE_THREADS", "2",
     "threads of a rank that wait for the device (0: the calls themselves do)"},
    {"SLUICE_STORAGE", "auto", "the hint sluice_storage of files that have none"},
    {"SLUICE_DEVICE", "none",
     "hdd, ssd, nvm or a file: transfers take as long as on this device; see sluice device --list"},
    {"SLUICE_PROFILE", "auto",
     "file of the machine's profile, or none; auto: where sluice calibrate writes it"},
    {"SLUICE_MPI", "auto",
     "of the command: which MPI's library, where several are installed; auto: as program or "
     "mpiexec"},
    {"SLUICE_AFFINITY", "inherit",
     "cores of the library's threads; spread: off those of the ranks; or a list such as 2,4-7"},
};

constexpr Knob hints[] = {
    {"sluice", "enable", "disable: leave this file to the MPI (only when it is opened)"},
    {"sluice_durable", "never", "close: what was written is on the device when the file is closed"},
    {"sluice_storage", "auto",
     "threads, uring, mpi or direct: who moves the bytes (only when it is opened)"},
    {"sluice_page_cache", "keep",
     "drop: nothing stays in the page cache; bypass: direct I/O (only when it is opened)"},
    {"cb_nodes", "0", "aggregators (0: the library decides)"},
    {"cb_config_list", "*:*", "hosts of aggregators: host:n,...,*:n (only when it is opened)"},
    {"sluice_aggregators", "auto", "ranks that are aggregators: 0,4,8 (only when it is opened)"},
    {"cb_buffer_size", "0", "bytes of a window, at most 4M (0: the library decides)"},
    {"striping_unit", "0", "bytes of a stripe; borders of file domains are multiples of it"},
    {"striping_factor", "0", "servers that hold the stripes of the file in turn (0: not known)"},
    {"sluice_domains", "auto",
     "even, cyclic or balanced: how the file is divided among aggregators; or groups: of ranks"},
    {"sluice_groups", "0", "groups of ranks on each node, with aggregators of their own (0: auto)"},
    {"sluice_exchange_metadata", "auto",
     "order of the claims: ascending, pairwise, spread-out, balanced; one-layer or two-layer; ..."},
    {"sluice_exchange_data", "auto", "the same for the data"},
    {"sluice_throttle", "auto",
     "messages that an aggregator takes at once (0: all), as a sliding window; N,batches: in turn"},
    {"sluice_local_aggregators", "0", "ranks of a node that carry for it (0: all)"},
    {"romio_cb_write", "automatic", "enable: always two-phase; disable: independent writes"},
    {"romio_cb_read", "automatic", "enable: always two-phase; disable: independent reads"},
    {"romio_ds_write", "automatic", "shown as it was given; writes are never sieved"},
};
static_assert(std::size(hints) <= 32);  // FileHints::given has a bit for each.

/// The bit of a hint in FileHints::given; 0 for what is no hint.
std::uint32_t bit_of(std::string_view name) noexcept {
    std::uint32_t bit = 1;
    for (Knob const& knob : hints) {
        if (name == knob.name) return bit;
        bit <<= 1;
    }
    return 0;
}

/// The last one is a short form: see set_engine().
constexpr std::initializer_list<char const*> engines = {"auto", "threads", "uring", "mpi",
                                                        "direct"};

/// Collects what could not be understood.
class Reader {
public:
    Reader(Lookup const& lookup, std::span<Knob const> knobs, std::vector<Complaint>& complaints)
        : lookup_(lookup),
          knobs_(knobs),
          complaints_(complaints) {}

    std::optional<Bytes> number(char const* name) {
        auto const text = lookup_(name);
        if (!text) return std::nullopt;
        auto const value = parse_bytes(*text);
        if (!value) complain(name, *text, "is not a number such as 0, 4096, 64K, 16M or 1G");
        return value;
    }
    Affinity affinity(char const* name) {
        auto const text = lookup_(name);
        if (!text) return {};
        auto const value = parse_affinity(*text);
        if (!value) complain(name, *text, "is neither inherit nor spread nor a list of cores");
        return value.value_or(Affinity{});
    }
    /// The place of the value among `words`.
    std::optional<int> word(char const* name, std::initializer_list<char const*> words) {
        auto const text = lookup_(name);
        if (!text) return std::nullopt;
        int place = 0;
        for (char const* const word : words) {
            if (*text == word) return place;
            ++place;
        }
        std::string all;
        for (char const* const word : words) all.append(all.empty() ? "" : ", ").append(word);
        complain(name, *text, "is not understood; there are " + all);
        return std::nullopt;
    }
    /// What `parse` makes of the value.
    template <typename Parse> auto parsed(char const* name, Parse&& parse) {
        auto const text = lookup_(name);
        decltype(parse(*text)) value;
        if (text) value = parse(*text);
        if (text && !value) complain(name, *text, "is not understood; it says " + meaning(name));
        return value;
    }
    /// The place of the storage engine among `engines`. POSIX AIO was one of them.
    std::optional<int> engine(char const* name) {
        if (lookup_(name) != "aio") return word(name, engines);
        complaints_.push_back({name,
                               std::string(name) + "=aio: the engine for POSIX AIO was removed, "
                                                   "because it was never faster; threads is taken",
                               false});
        return static_cast<int>(StorageEngine::threads);
    }
    Bytes fallback(char const* name) const {
        for (Knob const& knob : knobs_) {
            if (std::string(knob.name) == name) return parse_bytes(knob.fallback).value_or(0);
        }
        return 0;
    }

private:
    /// The words of the table, which tell the values.
    [[nodiscard]] std::string meaning(std::string_view name) const {
        for (Knob const& knob : knobs_)
            if (name == knob.name) return knob.meaning;
        return {};
    }
    void complain(char const* name, std::string const& text, std::string const& what) {
        complaints_.push_back(
            {name, std::string(name) + "=" + text + " " + what + "; it is ignored"});
    }
    Lookup const& lookup_;
    std::span<Knob const> knobs_;
    std::vector<Complaint>& complaints_;
};

constexpr std::initializer_list<char const*> page_caches = {"keep", "drop", "bypass"};
constexpr std::initializer_list<char const*> divisions = {"auto", "even", "cyclic", "balanced",
                                                          "groups"};

Strategy strategy_of(int place) noexcept {
    return place == 0   ? Strategy::two_phase
           : place == 1 ? Strategy::independent
                        : Strategy::automatic;
}

/// `direct`: storage threads past the page cache.
void set_engine(FileHints& h, int place) noexcept {
    bool const direct = place == static_cast<int>(engines.size()) - 1;
    h.storage = direct ? StorageEngine::threads : static_cast<StorageEngine>(place);
    if (direct) h.page_cache = PageCache::bypass;
}

}  // namespace

std::span<Knob const> environment_knobs() noexcept { return environment; }
std::span<Knob const> hint_knobs() noexcept { return hints; }

namespace {

/// Known, but no settings: of the command, of the tests, and one that was removed.
constexpr std::string_view other_variables[] = {
    "SLUICE_COMMAND", "SLUICE_DEVICE_SECRET", "SLUICE_SOURCE_DIR",   "SLUICE_PICTURES",
    "SLUICE_PRINT",   "SLUICE_NODES_INSIDE",  "SLUICE_UPDATE_GOLDEN", "SLUICE_SLICE"};
constexpr std::string_view test_variables = "SLUICE_TEST_";

std::vector<Complaint> unknown(std::vector<std::string> const& names, std::string_view prefix,
                               std::vector<std::string_view> const& known) {
    std::vector<Complaint> complaints;
    for (std::string const& name : names) {
        if (!name.starts_with(prefix) || name.starts_with(test_variables)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        auto const meant = nearest(name, known);
        std::string const advice = meant ? "; did you mean " + std::string(*meant) + "?"
                                         : "; `sluice info` lists what there is";
        complaints.push_back({name, name + " is not known and does nothing" + advice});
    }
    return complaints;
}

}  // namespace

std::vector<Complaint> unknown_variables(std::vector<std::string> const& names) {
    std::vector<std::string_view> known(std::begin(other_variables), std::end(other_variables));
    for (Knob const& knob : environment) known.emplace_back(knob.name);
    return unknown(names, "SLUICE_", known);
}

std::vector<Complaint> unknown_hints(std::vector<std::string> const& names) {
    std::vector<std::string_view> known;
    for (Knob const& knob : hints) known.emplace_back(knob.name);
    return unknown(names, "sluice_", known);
}

static Lookup lookup_in(std::map<std::string, std::string> const& given) {
    return [&given](char const* name) -> std::optional<std::string> {
        auto const found = given.find(name);
        return found == given.end() ? std::nullopt : std::optional(found->second);
    };
}

/// What `name=value;name=value` sets; a name that is none is complained about.
static FileHints hints_of_all(std::string const& text, FileHints before,
                              std::vector<Complaint>& complaints) {
    std::map<std::string, std::string> given;
    if (text == "none") return before;
    for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
        end = std::min(text.find(';', begin), text.size());
        std::string const part = text.substr(begin, end - begin);
        auto const equals = std::min(part.find('='), part.size());
        std::string const name = part.substr(0, equals);
        if (bit_of(name) != 0 && equals < part.size())
            given[name] = part.substr(equals + 1);
        else if (!part.empty() || text.empty())
            complaints.push_back(
                {"SLUICE_HINTS", "SLUICE_HINTS=" + part + " is no name=value of a hint; ignored"});
    }
    return read_hints(lookup_in(given), before, complaints);
}

std::map<std::string, std::string> hints_in_lines(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    std::map<std::string, std::string> found;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        std::vector<std::string_view> words;
        auto const line = text.substr(begin, end - begin);
        for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) < line.size();) {
            auto const behind = std::min(line.find_first_of(blanks, at), line.size());
            words.push_back(line.substr(at, behind - at));
            at = behind;
        }
        bool const counts = words.size() == 2 && bit_of(words[0]) != 0;
        if (counts) found.try_emplace(std::string(words[0]), words[1]);
    }
    return found;
}

FileHints read_hints_behind(std::map<std::string, std::string> const& system, FileHints given,
                            std::vector<Complaint>& complaints) {
    auto others = system;
    std::erase_if(others,
                  [&](auto const& hint) { return (given.given & bit_of(hint.first)) != 0; });
    auto const before = given.given;
    given = read_hints(lookup_in(others), std::move(given), complaints);
    given.given = before;
    return given;
}

Settings read_settings(Lookup const& lookup, std::vector<Complaint>& complaints) {
    Reader reader(lookup, environment, complaints);
    auto const number = [&](char const* name) {
        return reader.number(name).value_or(reader.fallback(name));
    };
    Settings s;
    s.enabled = reader.word("SLUICE", {"on", "off"}).value_or(0) == 0;
    s.log = static_cast<int>(std::min<Bytes>(number("SLUICE_LOG"), 2));
    Bytes const statistics = number("SLUICE_STATS");
    s.statistics = statistics != 0;
    s.each_operation = statistics > 1;
    s.collectives = number("SLUICE_COLLECTIVES") != 0;
    s.progress_in_calls = reader.word("SLUICE_PROGRESS", {"thread", "calls"}).value_or(0) == 1;
    s.chain = reader.word("SLUICE_CHAIN", {"off", "on"}).value_or(0) == 1;
    s.memory_bytes = number("SLUICE_MEMORY");
    s.cache_bytes = number("SLUICE_CACHE");
    s.ranks_per_node =
        static_cast<std::int32_t>(std::min<Bytes>(number("SLUICE_RANKS_PER_NODE"), 1 << 30));
    s.shared_memory = reader.word("SLUICE_SHARED_MEMORY", {"on", "off"}).value_or(0) == 0;
    s.view_pieces = number("SLUICE_VIEW_PIECES");
    s.stall_seconds = static_cast<double>(number("SLUICE_STALL"));
    s.storage_threads = static_cast<int>(std::min<Bytes>(number("SLUICE_STORAGE_THREADS"), 64));
    set_engine(s.hints, reader.engine("SLUICE_STORAGE").value_or(0));
    s.hints = hints_of_all(lookup("SLUICE_HINTS").value_or("none"), s.hints, complaints);
    s.device = lookup("SLUICE_DEVICE").value_or("none");
    s.profile = lookup("SLUICE_PROFILE").value_or("auto");
    s.affinity = reader.affinity("SLUICE_AFFINITY");
    if (lookup("SLUICE_SLICE"))
        complaints.push_back({"SLUICE_SLICE", "SLUICE_SLICE was removed and has no effect"});
    return s;
}

FileHints read_hints(Lookup const& info, FileHints h, std::vector<Complaint>& complaints) {
    std::uint32_t given = 0;
    Lookup const noting = [&](char const* name) {
        auto value = info(name);
        if (value) given |= bit_of(name);
        return value;
    };
    auto const understood = complaints.size();
    Reader reader(noting, hints, complaints);
    if (auto const place = reader.word("sluice", {"enable", "disable"})) h.disabled = *place == 1;
    if (auto const place = reader.word("sluice_durable", {"never", "close"})) {
        h.durable = *place == 1;
    }
    if (auto const place = reader.engine("sluice_storage")) set_engine(h, *place);
    if (auto const place = reader.word("sluice_page_cache", page_caches)) {
        h.page_cache = static_cast<PageCache>(*place);
    }
    if (auto const n = reader.number("cb_nodes")) {
        h.plan.aggregator_count = static_cast<std::int32_t>(std::min<Bytes>(*n, 1 << 20));
    }
    if (auto const hosts = reader.parsed("cb_config_list", parse_hosts)) {
        h.placement.hosts = *hosts;
    }
    if (auto const ranks = reader.parsed("sluice_aggregators", parse_ranks)) {
        h.placement.ranks = *ranks;
    }
    if (auto const n = reader.number("cb_buffer_size")) h.plan.window_bytes = *n;
    if (auto const n = reader.number("striping_unit")) h.plan.stripe_bytes = *n;
    if (auto const n = reader.number("striping_factor")) {
        h.plan.stripe_count = static_cast<std::int32_t>(std::min<Bytes>(*n, 1 << 20));
    }
    if (auto const place = reader.word("sluice_domains", divisions)) {
        h.plan.domains = static_cast<Domains>(*place);
    }
    if (auto const n = reader.number("sluice_groups")) {
        h.plan.group_count = static_cast<std::uint8_t>(std::min<Bytes>(*n, 255));
    }
    if (auto const d = reader.parsed("sluice_exchange_metadata", parse_delivery)) {
        h.plan.metadata = *d;
    }
    if (auto const d = reader.parsed("sluice_exchange_data", parse_delivery)) h.plan.data = *d;
    if (auto const t = reader.parsed("sluice_throttle", parse_throttle)) h.plan.throttle = *t;
    if (auto const n = reader.number("sluice_local_aggregators")) {
        h.plan.local_aggregators = static_cast<std::int32_t>(std::min<Bytes>(*n, 1 << 20));
    }
    if (auto const p = reader.word("romio_cb_write", {"enable", "disable", "automatic"})) {
        h.plan.write = strategy_of(*p);
    }
    if (auto const p = reader.word("romio_cb_read", {"enable", "disable", "automatic"})) {
        h.plan.read = strategy_of(*p);
    }
    if (auto const p = reader.word("romio_ds_write", {"enable", "disable", "automatic"})) {
        h.sieve_writes = strategy_of(*p);
    }
    for (auto i = understood; i < complaints.size(); ++i)
        if (complaints[i].refused) given &= ~bit_of(complaints[i].name);
    h.given |= given;
    return h;
}

std::vector<std::pair<std::string, std::string>> hints_in_force(FileHints const& hints,
                                                                PlanLimits const& limits) {
    auto const word = [](Strategy strategy) {
        return strategy == Strategy::two_phase     ? "enable"
               : strategy == Strategy::independent ? "disable"
                                                   : "automatic";
    };
    auto const number = [](Bytes set, Bytes otherwise) {
        return std::to_string(set > 0 ? set : otherwise);
    };
    Hints const& plan = hints.plan;
    return {{"sluice", "enable"},
            {"sluice_durable", hints.durable ? "close" : "never"},
            {"sluice_storage", engines.begin()[static_cast<std::size_t>(hints.storage)]},
            {"sluice_page_cache", page_caches.begin()[static_cast<std::size_t>(hints.page_cache)]},
            {"cb_nodes", number(plan.aggregator_count, limits.aggregator_count)},
            {"cb_config_list", describe(hints.placement.hosts)},
            {"sluice_aggregators", describe(hints.placement.ranks)},
            {"cb_buffer_size", number(plan.window_bytes, window_bytes_default)},
            {"striping_unit", number(plan.stripe_bytes, stripe_bytes_default)},
            {"striping_factor", std::to_string(plan.stripe_count)},
            {"sluice_domains", describe(plan.domains)},
            {"sluice_groups", std::to_string(plan.group_count)},
            {"sluice_exchange_metadata", describe(plan.metadata)},
            {"sluice_exchange_data", describe(plan.data)},
            {"sluice_throttle", describe(plan.throttle)},
            {"sluice_local_aggregators", std::to_string(plan.local_aggregators)},
            {"romio_cb_write", word(plan.write)},
            {"romio_cb_read", word(plan.read)},
            {"romio_ds_write", word(hints.sieve_writes)}};
}

}  // namespace sluice
