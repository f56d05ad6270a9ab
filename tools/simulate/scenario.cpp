// From text to what is simulated. See scenario.hpp.
#include "tools/simulate/scenario.hpp"

#include "bench/measure/decomposition_file.hpp"
#include "file/plan/staging.hpp"

#include <cstdio>
#include <memory>

namespace sluice::tools {
namespace {

constexpr Bytes lustre_stripe_bytes = Bytes{1} << 20;  ///< Of a file of which nobody says it.

constexpr ScenarioKey keys[] = {
    {"machine.preset", "numbers to begin with: knl, power9 or ethernet"},
    {"machine.device",
     "storage: hdd, ssd, nvm, own (the section [device]) or a description's file; none: the "
     "machine's own servers"},
    {"device.NAME", "a number of the device: see sluice device --list"},
    {"pattern.name", "contiguous, strided, block3d, lattice4d, lattice5d, btio, irregular, random, "
                     "e3sm, e3sm-f, e3sm-g, e3sm-i, holes, flash or sparse"},
    {"pattern.bytes", "of each rank; rounded to what the pattern can tile with"},
    {"pattern.piece_bytes", "strided, sparse, random; irregular: on average"},
    {"pattern.seed", "irregular, random, e3sm-f, -g, -i: which one"},
    {"pattern.published",
     "true: btio of 1024^3 points and flash with 80 blocks a rank; bytes says how many planes and "
     "variables"},
    {"pattern.decomposition", "e3sm: the file, packed where it ends in .gz; else Sluice's own"},
    {"pattern.decomposition_number", "e3sm: which one of the file"},
    {"pattern.direction", "write or read"},
    {"run.seed", "of the noise"},
    {"run.local_aggregators",
     "of two-layer aggregation, in all, each for a group of a node's ranks; 0: one of each node"},
    {"run.check", "compare all bytes with those of a serial model: true or false"},
    {"hints.NAME", "a hint of MPI_File_open: see sluice info"},
};

void take_pattern(Description& description, Scenario& scenario) {
    patterns::PatternSpec& pattern = scenario.pattern;
    description.take("pattern.name", pattern.name);
    description.take("pattern.bytes", pattern.bytes);
    description.take("pattern.piece_bytes", pattern.piece_bytes);
    auto seed = static_cast<std::int64_t>(pattern.seed);
    description.take("pattern.seed", seed);
    pattern.seed = static_cast<std::uint64_t>(seed);
    description.take("pattern.decomposition_number", pattern.decomposition_number);
    description.take("pattern.published", pattern.published);
    std::string path, direction = "write";
    description.take("pattern.decomposition", path);
    description.take("pattern.direction", direction);
    scenario.direction = direction == "read" ? Direction::read : Direction::write;
    if (direction != "read" && direction != "write")
        description.fail("pattern.direction = " + direction + ": expected write or read");
    if (pattern.name != "e3sm") return;
    auto const file = read_decomposition(path);
    if (file.error.empty())
        pattern.decomposition = patterns::Decomposition(file.text);
    else
        description.fail(file.error);
}

std::optional<std::string> read_all(std::FILE* file, int (*close)(std::FILE*)) {
    if (file == nullptr) return std::nullopt;
    std::string text;
    char buffer[1 << 16];
    while (std::size_t const bytes = std::fread(buffer, 1, sizeof buffer, file))
        text.append(buffer, bytes);
    bool const complete = std::ferror(file) == 0;
    return close(file) == 0 && complete ? std::optional(text) : std::nullopt;
}

/// A device's file becomes part of the description, which may change its numbers.
void read_device(Description& description) {
    auto const name = description.take("machine.device");
    if (!name) return;
    bool const known = *name == "none" || *name == "own" || device_named(*name);
    auto const text = known ? std::nullopt : read_text(*name);
    auto const changed = description.take_section("device");
    if (text) description.add(*text);
    for (auto const& [key, value] : changed) description.set("device." + key + "=" + value);
    description.set("machine.device=" + (text ? "own" : *name));
}

}  // namespace

std::span<ScenarioKey const> scenario_keys() noexcept { return keys; }

std::optional<std::string> read_text(std::string const& path) {
    return read_all(std::fopen(path.c_str(), "re"), std::fclose);
}

void set_hints(Scenario& scenario, std::map<std::string, std::string> const& texts,
               Description& description) {
    std::vector<Complaint> complaints;
    FileHints before;
    before.plan = scenario.hints;
    auto const lookup = [&](char const* name) {
        auto const found = texts.find(name);
        return found == texts.end() ? std::nullopt : std::optional(found->second);
    };
    FileHints const given = read_hints(lookup, before, complaints);
    scenario.hints = given.plan;
    if (given.automatic_stripes) {  // As of a file that is made on Lustre.
        auto const& machine = scenario.machine;
        scenario.hints.stripe_count = servers_usual(machine.ranks(), machine.nodes);
        if (given.plan.stripe_bytes == 0) scenario.hints.stripe_bytes = lustre_stripe_bytes;
    }
    for (Complaint const& complaint : complaints) description.fail(complaint.text);
    for (auto const& [name, value] : texts) {
        if (!is_hint(name)) description.fail("there is no hint '" + name + "'");
    }
}

Scenario take_scenario(Description& description) {
    Scenario scenario;
    read_device(description);
    scenario.machine = simulated::take_machine(description);
    take_pattern(description, scenario);
    auto seed = static_cast<std::int64_t>(scenario.seed);
    description.take("run.seed", seed);
    scenario.seed = static_cast<std::uint64_t>(seed);
    description.take("run.local_aggregators", scenario.local_aggregators);
    description.take("run.check", scenario.checked);
    set_hints(scenario, description.take_section("hints"), description);
    return scenario;
}

std::string why_not(Scenario const& scenario) {
    if (!scenario.recorded) return patterns::why_not(scenario.pattern, scenario.machine.ranks());
    auto const ranks = std::ssize(*scenario.recorded);
    return ranks == scenario.machine.ranks() ? "" : "is of " + std::to_string(ranks) + " ranks";
}

Request request_of(Scenario const& scenario, Rank rank) {
    if (scenario.recorded) return (*scenario.recorded)[static_cast<std::size_t>(rank)];
    return patterns::make_request(scenario.pattern, rank, scenario.machine.ranks(),
                                  scenario.direction);
}

simulated::Experiment experiment_of(Scenario const& scenario) {
    simulated::Experiment experiment;
    experiment.machine = scenario.machine;
    experiment.hints = scenario.hints;
    experiment.local_aggregators = scenario.local_aggregators;
    experiment.seed = scenario.seed;
    experiment.checked = scenario.checked;
    if (scenario.hints.window_bytes > 0)
        experiment.cb_buffer_bytes_max = scenario.hints.window_bytes;
    experiment.request = [scenario](Rank rank) { return request_of(scenario, rank); };
    return experiment;
}

}  // namespace sluice::tools
