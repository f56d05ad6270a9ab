// What to simulate, read from a description: a machine, a pattern, hints.
#pragma once
#include "bench/patterns/pattern.hpp"
#include "settings/settings.hpp"
#include "simulate/experiment.hpp"

namespace sluice::tools {

struct Scenario {
    simulated::Machine machine;
    patterns::PatternSpec pattern;
    Direction direction = Direction::write;
    Hints hints;
    Rank local_aggregators = 0;
    std::uint64_t seed = 1;
    bool checked = true;
    /// What each rank asks for, of a recorded job: in place of what the pattern says.
    std::shared_ptr<std::vector<Request> const> recorded;
};

/// One key of a description that is no number of a machine.
struct ScenarioKey {
    char const* name;
    char const* meaning;
};

[[nodiscard]] std::span<ScenarioKey const> scenario_keys() noexcept;

/// Takes all keys of a scenario out. What is wrong is in the description's error().
[[nodiscard]] Scenario take_scenario(Description& description);

/// Hints from their text, as a program would set them; the machine must be known. Complains to the
/// description.
void set_hints(Scenario& scenario, std::map<std::string, std::string> const& texts,
               Description& description);

/// Empty: the pattern is possible on the machine.
[[nodiscard]] std::string why_not(Scenario const& scenario);

/// What a rank asks for. The scenario must be possible.
[[nodiscard]] Request request_of(Scenario const& scenario, Rank rank);

[[nodiscard]] simulated::Experiment experiment_of(Scenario const& scenario);

/// A whole file; nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(std::string const& path);

}  // namespace sluice::tools
