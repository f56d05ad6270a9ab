// Mode choice: what the library chooses by itself, beside every way to do the same access that
// hints can force: no exchange, and two-phase with each number of aggregators, window and division.
// On the same engine, in turn. See choice_report.cpp for what is made of it.
#include "study/file/choice.hpp"

namespace sluice::bench {
namespace {

constexpr int turns_of_slow = 2;    ///< And the warm-up.
constexpr double far_behind = 2.5;  ///< Times the fastest.
constexpr double slow = 0.1;        ///< Seconds.

Variant two_phase(std::string const& division, std::uint64_t aggregators, std::uint64_t window,
                  std::string const& layers) {
    Variant variant;
    variant.name = name_of(division, aggregators, window);
    variant.throttle = "-";
    variant.hints = division_hints(division);
    variant.hints.push_back("cb_nodes=" + std::to_string(aggregators));
    variant.hints.push_back("cb_buffer_size=" + std::to_string(window));
    if (!layers.empty()) {
        variant.name += " " + layers;
        variant.hints.push_back("sluice_exchange=data:" + layers);
    }
    return variant;
}

/// Nothing goes from node to node by groups, so it makes no difference who sends.
std::vector<std::string> layers_of(std::string const& division) {
    if (node_count() == 1 || division.starts_with("groups")) return {""};
    return {"one-layer", "two-layer"};
}

std::vector<std::string> divisions_of() {
    if (!study_options().divisions.empty()) return study_options().divisions;
    if (node_count() > 1) return {"even", "groups"};
    return {"even"};
}

std::vector<Variant> candidates_of(Run const& run) {
    auto const& own = study_options();
    std::vector<Variant> variants{
        {library_chooses, "-", {}},
        {always_collective, "-", {"romio_cb_write=enable", "romio_cb_read=enable"}},
        {always_independent, "-", division_hints("none")}};
    for (auto const& division : divisions_of())
        for (auto const aggregators : own.aggregators) {
            if (aggregators > std::uint64_t(run.ranks)) continue;
            for (auto const window : own.windows)
                for (auto const& layers : layers_of(division))
                    variants.push_back(two_phase(division, aggregators, window, layers));
        }
    if (!run.options.no_peer) variants.push_back({own_calls, "-", {"sluice=disable"}});
    return variants;
}

}  // namespace

std::string name_of(std::string const& division, std::uint64_t aggregators, std::uint64_t window) {
    bool const whole = window % (1U << 20) == 0;
    return division + " " + std::to_string(aggregators) + "x" +
           std::to_string(window >> (whole ? 20 : 10)) + (whole ? "M" : "K");
}

void mode_choice(Run& run) {
    Subject const subject{
        "choice", "candidate", report_choice, {far_behind, turns_of_slow, slow}, true};
    measure_variants(run, subject, candidates_of(run));
}

}  // namespace sluice::bench
