// The table of hints, and how they are read. See file_hints.hpp.
#include "settings/file_hints.hpp"

#include "settings/exchange_hint.hpp"
#include "settings/reader.hpp"

namespace sluice {
namespace {

constexpr Knob hints[] = {
    {"sluice", "enable", "disable: leave this file to the MPI (only when it is opened)"},
    {"sluice_close", "complete",
     "durable: what was written is on the device when the file is closed; behind: the close waits "
     "for no delayed write (only when it is opened)"},
    {"sluice_page_cache", "keep",
     "direct: direct I/O, past the page cache (only when it is opened)"},
    {"sluice_write_behind", "0",
     "memory of a node for bytes of blocking writes, which return at once (only when it is "
     "opened)"},
    {"sluice_read_ahead", "0",
     "memory of a node for what the next blocking collective read will want, 0: none is read (only "
     "when it is opened)"},
    {"cb_nodes", "0", "aggregators (0: the library decides)"},
    {"cb_config_list", "*:*", "hosts of aggregators: host:n,...,*:n (only when it is opened)"},
    {"cb_buffer_size", "0", "bytes of a window, at most 4M (0: the library decides)"},
    {"striping_unit", "0",
     "bytes of a stripe, also of a file that is made; borders of file domains are multiples of it"},
    {"striping_factor", "0",
     "servers that hold the stripes of the file in turn (0: not known); of a file that is made, "
     "auto: up to 4 for each node"},
    {"romio_cb_write", "automatic", "enable: always two-phase; disable: independent writes"},
    {"romio_cb_read", "automatic", "enable: always two-phase; disable: independent reads"},
    // For experiments.
    {"sluice_domains", "auto",
     "even, cyclic or balanced: how the file is divided among aggregators; or groups: of ranks"},
    {"sluice_exchange", "auto",
     "order, layers and throttle of messages between nodes: balanced,two-layer,throttle:32 ..."},
    {"sluice_aggregators", "auto", "ranks that are aggregators: 0,4,8 (only when it is opened)"},
};
/// Those above it are for users, so a new hint is of the kind of those beside it.
constexpr std::string_view first_for_experiments = "sluice_domains";
constexpr auto hints_of_users = static_cast<std::size_t>(
    std::find_if(std::begin(hints), std::end(hints),
                 [](Knob const& knob) { return knob.name == first_for_experiments; }) -
    std::begin(hints));
static_assert(hints_of_users < std::size(hints));
/// ROMIO's: true says enable for romio_cb_write and romio_cb_read, whatever those say.
constexpr char const* no_independent = "romio_no_indep_rw";
static_assert(std::size(hints) <= 32);  // FileHints::given has a bit for each.

/// The bit of a hint in FileHints::given; 0 for what is no hint.
std::uint32_t bit_of(std::string_view name) noexcept {
    if (name == no_independent) name = "romio_cb_write";
    std::uint32_t bit = 1;
    for (Knob const& knob : hints) {
        if (name == knob.name) return bit;
        bit <<= 1;
    }
    return 0;
}

constexpr std::initializer_list<char const*> closes = {"complete", "durable", "behind"};
constexpr std::initializer_list<char const*> page_caches = {"keep", "direct"};
constexpr std::initializer_list<char const*> divisions = {"auto", "even", "cyclic", "balanced",
                                                          "groups"};

constexpr std::int32_t automatic = -1;

std::optional<std::int32_t> parse_servers(std::string const& text) {
    if (text == "auto") return automatic;
    auto const number = parse_bytes(text);
    if (!number) return std::nullopt;
    return static_cast<std::int32_t>(std::min<Bytes>(*number, 1 << 20));
}

Strategy strategy_of(int place) noexcept {
    return place == 0   ? Strategy::two_phase
           : place == 1 ? Strategy::independent
                        : Strategy::automatic;
}

}  // namespace

std::span<Knob const> hint_knobs() noexcept { return std::span(hints).first(hints_of_users); }
std::span<Knob const> experiment_hint_knobs() noexcept {
    return std::span(hints).subspan(hints_of_users);
}

bool is_hint(std::string_view name) noexcept { return bit_of(name) != 0; }

std::vector<std::string_view> hint_names() { return names_of(hints); }

std::vector<Complaint> unknown_hints(std::vector<std::string> names) {
    return unknown_names(names, "sluice_", hint_names());
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
    if (auto const place = reader.word("sluice_close", closes)) {
        h.close = static_cast<Close>(*place);
    }
    if (auto const place = reader.word("sluice_page_cache", page_caches)) {
        h.page_cache = static_cast<PageCache>(*place);
    }
    if (auto const n = reader.number("sluice_write_behind")) h.write_behind = *n;
    if (auto const n = reader.number("sluice_read_ahead")) h.read_ahead = *n;
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
    if (auto const servers = reader.parsed("striping_factor", parse_servers)) {
        h.automatic_stripes = *servers == automatic;
        h.plan.stripe_count = std::max(*servers, 0);
    }
    if (auto const place = reader.word("sluice_domains", divisions)) {
        h.plan.domains = static_cast<Domains>(*place);
    }
    auto const exchange = reader.parsed("sluice_exchange", [&](std::string const& text) {
        return with_exchange(without_exchange(h.plan), text);
    });
    if (exchange) h.plan = *exchange;
    if (auto const p = reader.word("romio_cb_write", {"enable", "disable", "automatic"})) {
        h.plan.write = strategy_of(*p);
    }
    if (auto const p = reader.word("romio_cb_read", {"enable", "disable", "automatic"})) {
        h.plan.read = strategy_of(*p);
    }
    if (info(no_independent) == "true") {
        h.plan.write = h.plan.read = Strategy::two_phase;
        given |= bit_of("romio_cb_write") | bit_of("romio_cb_read");
    }
    h.memory = read_memory_hints(info, std::move(h.memory), complaints);
    for (auto i = understood; i < complaints.size(); ++i) given &= ~bit_of(complaints[i].name);
    h.given |= given;
    return h;
}

std::vector<std::pair<std::string, std::string>> hints_in_force(FileHints const& hints,
                                                                std::int32_t aggregators) {
    auto const word = [](Strategy strategy) {
        return strategy == Strategy::two_phase     ? "enable"
               : strategy == Strategy::independent ? "disable"
                                                   : "automatic";
    };
    auto const number = [](Bytes set, Bytes otherwise) {
        return std::to_string(set > 0 ? set : otherwise);
    };
    Hints const& plan = hints.plan;
    std::vector<std::pair<std::string, std::string>> all{
        {"sluice", "enable"},
        {"sluice_close", closes.begin()[static_cast<std::size_t>(hints.close)]},
        {"sluice_page_cache", page_caches.begin()[static_cast<std::size_t>(hints.page_cache)]},
        {"sluice_write_behind", std::to_string(hints.write_behind)},
        {"sluice_read_ahead", std::to_string(hints.read_ahead)},
        {"cb_nodes", number(plan.aggregator_count, aggregators)},
        {"cb_config_list", describe(hints.placement.hosts)},
        {"sluice_aggregators", describe(hints.placement.ranks)},
        {"cb_buffer_size", number(plan.window_bytes, window_bytes_default)},
        {"sluice_domains", describe(plan.domains)},
        {"sluice_exchange", describe_exchange(plan)},
        {"romio_cb_write", word(plan.write)},
        {"romio_cb_read", word(plan.read)}};
    if (!hints.memory.alloc_kinds.empty())
        all.emplace_back("mpi_assert_memory_alloc_kinds", hints.memory.alloc_kinds);
    // Libraries such as PnetCDF lay their files out after the stripes, so none is made up.
    if (plan.stripe_bytes > 0) all.emplace_back("striping_unit", std::to_string(plan.stripe_bytes));
    if (plan.stripe_count > 0) {
        all.emplace_back("striping_factor", std::to_string(plan.stripe_count));
    }
    return all;
}

}  // namespace sluice
