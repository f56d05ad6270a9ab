// How a machine's profile is written as text, and read. See machine.hpp.
#include "base/byte_count.hpp"
#include "base/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

namespace sluice {
namespace {

struct Unit {
    char const* name;
    double seconds;
};
constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

/// A number of the profile, and what people should know of it.
struct Line {
    char const* key;
    double MachineProfile::* value;
    char const* comment;
};
constexpr Line lines[] = {
    {"queue", &MachineProfile::queue,
     "each request that waits at the receiver of a message, by each message"},
    {"copy_byte", &MachineProfile::copy_byte, "a byte of a copy in memory"},
    {"copy_piece", &MachineProfile::copy_piece, "each piece of a copy, beside its bytes"},
    {"plan_piece", &MachineProfile::plan_piece,
     "flattening, surveying and claiming, each piece of a rank"},
    {"wake", &MachineProfile::wake, "until a rank goes on after another of its node"},
    {"operation", &MachineProfile::operation, "a collective call of one node that moves nothing"},
    {"operation_nodes", &MachineProfile::operation_nodes,
     "what it takes longer with several nodes"},
    {"exchange", &MachineProfile::exchange, "what claims and waiting for others add to it"},
    {"cycle", &MachineProfile::round, "a window of an aggregator, without its bytes"},
    {"after_pause", &MachineProfile::after_pause,
     "what a call takes longer that follows no other at once, each rank of a core"},
};

struct Messages {
    char const* section;
    MessageCosts MachineProfile::* costs;
    char const* comment;
};
constexpr Messages messages[] = {
    {"messages.between", &MachineProfile::between, "between nodes"},
    {"messages.within", &MachineProfile::within, "within a node, sent by the MPI"},
};

struct Requests {
    char const* section;
    std::array<RequestCosts, 2> MachineProfile::* costs;
    Direction direction;
};
constexpr Requests requests[] = {
    {"storage.write.sequential", &MachineProfile::sequential, Direction::write},
    {"storage.write.random", &MachineProfile::random, Direction::write},
    {"storage.read.sequential", &MachineProfile::sequential, Direction::read},
    {"storage.read.random", &MachineProfile::random, Direction::read},
};

// ---- Reading --------------------------------------------------------------------------------

/// 12us, 1.5 ms; nothing where it is no time that can be measured.
std::optional<double> time_of(std::string const& text) {
    constexpr double most = 1e6;
    double value = 0;
    auto const [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    auto const name = std::string(rest, text.data() + text.size());
    for (Unit const& unit : units) {
        if (name != unit.name && name != std::string(" ") + unit.name) continue;
        double const seconds = value * unit.seconds;
        if (seconds >= 0 && seconds <= most) return seconds;
    }
    return std::nullopt;
}

void take_time(Description& text, std::string const& key, double& value) {
    auto const given = text.take(key);
    if (!given) return;
    if (auto const seconds = time_of(*given))
        value = *seconds;
    else
        text.fail(key + " = " + *given + ": expected a time with its unit, as in 12us");
}

std::vector<std::string> words_of(std::string const& text) {
    constexpr char const* blanks = " \t,";
    std::vector<std::string> words;
    for (std::size_t at = text.find_first_not_of(blanks); at != std::string::npos;) {
        std::size_t const end = std::min(text.find_first_of(blanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(blanks, end);
    }
    return words;
}

bool take_sizes(Description& text, std::string const& section, std::string const& given,
                std::vector<Bytes>& sizes) {
    for (std::string const& word : words_of(given)) {
        auto const bytes = parse_bytes(word);
        bool const grows = bytes && *bytes > (sizes.empty() ? 0 : sizes.back());
        if (!grows)
            return text.fail(section + ".sizes: '" + word +
                             "': expected sizes that grow, as in 4K 64K 1M");
        sizes.push_back(*bytes);
    }
    return !sizes.empty() || text.fail(section + ".sizes: expected sizes, as in 4K 64K 1M");
}

bool take_curve(Description& text, std::string const& key, std::string const& given,
                std::vector<Bytes> const& sizes, Curve& curve) {
    for (std::string const& word : words_of(given)) {
        auto const seconds = time_of(word);
        if (!seconds || *seconds <= 0)
            return text.fail(key + ": '" + word + "': expected a time with its unit, as in 12us");
        if (curve.points.size() < sizes.size())
            curve.points.push_back({sizes[curve.points.size()], *seconds});
        else
            return text.fail(key + ": more times than sizes");
    }
    return curve.points.size() == sizes.size() || text.fail(key + ": fewer times than sizes");
}

/// The number in clients_4.
std::optional<std::int32_t> clients_of(std::string const& key) {
    constexpr std::string_view prefix = "clients_";
    constexpr std::int32_t most = 1 << 20;
    std::int32_t clients = 0;
    if (!key.starts_with(prefix)) return std::nullopt;
    char const* const end = key.data() + key.size();
    auto const [rest, error] = std::from_chars(key.data() + prefix.size(), end, clients);
    bool const whole = error == std::errc{} && rest == end && clients >= 1 && clients <= most;
    return whole ? std::optional(clients) : std::nullopt;
}

void take_requests(Description& text, std::string const& section, RequestCosts& costs) {
    auto given = text.take_section(section);
    if (given.empty()) return;
    std::vector<Bytes> sizes;
    auto const listed = given.extract("sizes");
    if (!take_sizes(text, section, listed.empty() ? "" : listed.mapped(), sizes)) return;
    std::map<std::int32_t, Curve> curves;
    for (auto const& [key, times] : given) {
        auto const clients = clients_of(key);
        if (!clients) {
            text.fail("there is no key '" + section + "." + key +
                      "': expected sizes, clients_1, clients_2 and so on");
            return;
        }
        // The same number written twice, as in clients_1 and clients_01: the later one counts.
        Curve& curve = curves[*clients];
        curve.points.clear();
        if (!take_curve(text, section + "." + key, times, sizes, curve)) return;
    }
    costs.depths.clear();
    for (auto& [clients, curve] : curves) costs.depths.push_back({clients, std::move(curve)});
    if (costs.depths.empty()) text.fail(section + ".clients_1: expected a time for each size");
}

// ---- Writing --------------------------------------------------------------------------------

std::string in_unit(double seconds) {
    Unit const* chosen = std::begin(units);
    while (seconds < chosen->seconds && chosen + 1 < std::end(units)) ++chosen;
    if (seconds <= 0) chosen = std::begin(units);
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "%.5g%s", seconds / chosen->seconds, chosen->name);
    return buffer;
}

std::string in_bytes(Bytes bytes) {
    for (auto const& [letter, shift] : {std::pair{'G', 30}, {'M', 20}, {'K', 10}}) {
        Bytes const unit = Bytes{1} << shift;
        if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + letter;
    }
    return std::to_string(bytes);
}

std::string line_of(std::string const& key, std::string const& value, std::string const& comment) {
    std::string text = key + " = \"" + value + "\"";
    if (comment.empty()) return text + "\n";
    constexpr std::size_t column = 30;
    text.resize(std::max(text.size() + 2, column), ' ');
    return text + "# " + comment + "\n";
}

/// Without what would end the string, which nothing can escape here.
std::string one_line(std::string text) {
    for (char& c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7f || c == '"' || c == '\\') c = ' ';
    }
    return text;
}

std::string speed(double byte_seconds) {
    if (byte_seconds <= 0) return "a byte";
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "a byte: %.4g MB/s", 1e-6 / byte_seconds);
    return buffer;
}

std::string describe(char const* section, MessageCosts const& costs, char const* comment) {
    return std::string("\n[") + section + "]  # " + comment + "\n" +
           line_of("start", in_unit(costs.start), "a message, whatever its length: T_s") +
           line_of("byte", in_unit(costs.byte), speed(costs.byte) + ": T_w");
}

std::string describe(char const* section, RequestCosts const& costs) {
    std::map<Bytes, bool> sizes;  // Of all depths: on a line between its points nothing changes.
    for (auto const& depth : costs.depths)
        for (auto const& point : depth.one.points) sizes[point.bytes] = true;
    if (sizes.empty()) return {};
    std::string text = std::string("\n[") + section + "]\n", list;
    for (auto const& [bytes, any] : sizes) list += (list.empty() ? "" : " ") + in_bytes(bytes);
    text += line_of("sizes", list, "");
    for (auto const& depth : costs.depths) {
        list.clear();
        for (auto const& [bytes, any] : sizes)
            list +=
                (list.empty() ? "" : " ") + in_unit(depth.one.seconds(static_cast<double>(bytes)));
        text += line_of("clients_" + std::to_string(depth.clients), list, "");
    }
    return text;
}

}  // namespace

std::optional<MachineProfile> machine_described(std::string const& text, std::string& error) {
    Description description;
    MachineProfile machine = usual_machine();
    bool const read = description.add(text);
    auto const measured = description.take("measured");
    if (read && !measured)
        description.fail("there is no key 'measured', which says where and when it was");
    machine.measured = measured.value_or("");
    for (Line const& line : lines)
        take_time(description, std::string("costs.") + line.key, machine.*line.value);
    for (Messages const& way : messages) {
        take_time(description, std::string(way.section) + ".start", (machine.*way.costs).start);
        take_time(description, std::string(way.section) + ".byte", (machine.*way.costs).byte);
    }
    for (Requests const& kind : requests)
        take_requests(description, kind.section, (machine.*kind.costs)[index_of(kind.direction)]);
    error = description.error();
    return error.empty() ? std::optional(machine) : std::nullopt;
}

std::string describe(MachineProfile const& machine) {
    std::string text = "# What this machine costs. Times are of one message, one byte or one "
                       "request, with\n# units: s, ms, us, ns. What is left out is as on a usual "
                       "machine.\n";
    text += line_of("measured", one_line(machine.measured),
                    "where and when; empty: nothing is decided by this");
    text += "\n[costs]\n";
    for (Line const& line : lines)
        text += line_of(line.key, in_unit(machine.*line.value), line.comment);
    for (Messages const& way : messages)
        text += describe(way.section, machine.*way.costs, way.comment);
    text += "\n# One request of each of these sizes, from asking to its end, while so many clients "
            "have\n# one under way each. Between sizes and numbers on straight lines.\n";
    for (Requests const& kind : requests)
        text += describe(kind.section, (machine.*kind.costs)[index_of(kind.direction)]);
    return text;
}

}  // namespace sluice
