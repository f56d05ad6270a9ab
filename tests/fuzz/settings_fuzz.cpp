// Environment variables: SLUICE, SLUICE_HINTS, SLUICE_TEST and the others, a line NAME=value each.
#include "fuzz.hpp"
#include "settings/settings.hpp"

#include <map>

namespace sluice::fuzz {
namespace {

using Values = std::map<std::string, std::string>;

Values values_in(std::string_view text) {
    Values values;
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        auto const equals = std::min(line.find('='), line.size());
        values.emplace(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
    }
    return values;
}

/// Copies, so that the sanitizer sees who reads behind the end of one.
Lookup lookup_of(Values const& values) {
    return [&values](char const* name) {
        auto const found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

void try_value(std::string const& value) {
    if (auto const affinity = parse_affinity(value)) {
        auto const cores = parse_cores(affinity->list.text());
        require(affinity->way != Affinity::Way::list || cores == affinity->list,
                "a list of cores is read again", value);
    }
    if (auto const ranks = RankList::parse(value)) (void)ranks->contains(3);
    if (auto const behind = parse_behind(value)) require(behind->bytes >= 0, "room", value);
    if (auto const trace = parse_trace(value)) require(trace->bytes >= 0, "room", value);
    (void)parse_network(value);
    (void)parse_served(value);
}

void try_settings(std::string const& text) {
    auto const values = values_in(text);
    std::vector<Complaint> complaints;
    Settings const settings = read_settings(lookup_of(values), complaints);
    require(settings.memory_bytes >= 0 && settings.cache_bytes >= 0, "memory is some", text);
    require(settings.ranks_per_node >= 0 && settings.local_aggregators >= 0, "ranks", text);
    require(settings.storage_threads >= 0 && settings.storage_threads <= 64, "threads", text);
    for (Complaint const& complaint : complaints)
        require(!complaint.name.empty() && !complaint.text.empty(), "a complaint says what", text);
    std::vector<std::string> names;
    for (auto const& [name, value] : values) {
        names.push_back(name);
        try_value(value);
    }
    require(unknown_variables(names).size() <= names.size(), "a complaint for each name", text);
    require(unknown_hints(names).size() <= names.size(), "a complaint for each name", text);
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_settings(sluice::fuzz::text_of(data, size));
    return 0;
}
