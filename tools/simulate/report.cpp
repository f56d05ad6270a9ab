// Tables and JSON of simulations. See report.hpp.
#include "tools/simulate/report.hpp"

#include "base/printable.hpp"

#include <cinttypes>
#include <cstdio>

namespace sluice::tools {
namespace {

template <class... Values> std::string text_of(char const* format, Values... values) {
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

struct PartName {
    double simulated::Parts::* field;
    char const* name;
    char const* meaning;
};

constexpr PartName part_names[] = {
    {&simulated::Parts::metadata, "metadata", "exchange of summaries and claims"},
    {&simulated::Parts::data, "data", "messages of the exchange"},
    {&simulated::Parts::storage, "storage", "transfers to or from the file"},
    {&simulated::Parts::both, "both", "messages and transfers at once"},
    {&simulated::Parts::computation, "computation", "copies and planning"},
    {&simulated::Parts::waiting, "waiting", "for other ranks, agreement"},
};

std::string first_line(std::string const& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string seconds_text(double seconds) {
    if (seconds >= 1 || seconds == 0) return text_of("%.3g s", seconds);
    return seconds >= 1e-3 ? text_of("%.3g ms", 1e3 * seconds) : text_of("%.3g us", 1e6 * seconds);
}

std::string bytes_text(double bytes) {
    char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    return text_of("%.4g %s", bytes, units[unit]);
}

std::string kernels_text(Hints const& hints) {
    std::string const data = describe(hints.data), metadata = describe(hints.metadata);
    return data == metadata ? data : metadata + " + " + data;
}

void print(Scenario const& scenario, simulated::Outcome const& outcome, double real_seconds) {
    auto const& [machine, pattern, direction, hints, local_aggregators, seed, checked, recorded] =
        scenario;
    std::printf("machine      %d nodes of %d ranks: %d ranks\n", machine.nodes,
                machine.ranks_per_node, machine.ranks());
    std::printf("pattern      %s of %s, %s a rank, %s in all\n", describe(direction),
                pattern.name.c_str(),
                bytes_text(static_cast<double>(outcome.bytes) / machine.ranks()).c_str(),
                bytes_text(static_cast<double>(outcome.bytes)).c_str());
    std::printf("plan         %s\n", first_line(describe(outcome.plan)).c_str());
    std::printf("hints        kernels %s\n", kernels_text(hints).c_str());
    std::printf("time         %s, %s/s\n", seconds_text(outcome.seconds).c_str(),
                bytes_text(static_cast<double>(outcome.bytes) / outcome.seconds).c_str());
    for (auto const& [field, name, meaning] : part_names) {
        std::printf("  %-11s at most %-9s on average %-9s (%s)\n", name,
                    seconds_text(outcome.largest.*field).c_str(),
                    seconds_text(outcome.sum.*field / machine.ranks()).c_str(), meaning);
    }
    std::printf("messages     %" PRId64 " of %s in all\n", outcome.messages,
                bytes_text(static_cast<double>(outcome.message_bytes)).c_str());
    std::printf("file         %" PRId64 " requests\n", outcome.storage_calls);
    std::printf("bytes        %s\n", !outcome.fault.empty() ? outcome.fault.c_str()
                                     : checked              ? "all as in the serial model"
                                                            : "not compared");
    std::printf("simulated in %s, %" PRId64 " events\n", seconds_text(real_seconds).c_str(),
                outcome.events);
}

std::string json(Scenario const& scenario, simulated::Outcome const& outcome,
                 std::string const& more) {
    auto const& machine = scenario.machine;
    std::string line =
        "{" + more +
        text_of("\"nodes\": %d, \"ranks\": %d, \"pattern\": %s, \"direction\": \"%s\", "
                "\"bytes\": %" PRId64 ", \"metadata_kernel\": \"%s\", \"data_kernel\": \"%s\", "
                "\"throttle\": \"%s\", \"seconds\": %.9g",
                machine.nodes, machine.ranks(), quoted_for_json(scenario.pattern.name).c_str(),
                describe(scenario.direction), outcome.bytes,
                describe(scenario.hints.metadata).c_str(), describe(scenario.hints.data).c_str(),
                describe(scenario.hints.data.throttle).c_str(), outcome.seconds);
    if (machine.device) line += ", \"device\": " + quoted_for_json(machine.device->name);
    for (auto const& [field, name, meaning] : part_names) {
        line += text_of(", \"%s\": %.9g, \"%s_mean\": %.9g", name, outcome.largest.*field, name,
                        outcome.sum.*field / machine.ranks());
    }
    line += text_of(", \"messages\": %" PRId64 ", \"message_bytes\": %" PRId64
                    ", \"storage_calls\": %" PRId64 ", \"aggregators\": %d, \"right\": %s}",
                    outcome.messages, outcome.message_bytes, outcome.storage_calls,
                    outcome.plan.aggregator_count(), outcome.fault.empty() ? "true" : "false");
    return line;
}

}  // namespace sluice::tools
