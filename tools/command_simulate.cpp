// `sluice simulate`: a collective call of many ranks in virtual time, from a text description.
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/recorded/question.hpp"
#include "tools/recorded/text.hpp"
#include "tools/simulate/check.hpp"
#include "tools/simulate/report.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace sluice {
namespace {

void print_keys() {
    std::printf("keys of a description, and of --set:\n");
    for (auto const& key : tools::scenario_keys())
        std::printf("  %-30s %s\n", key.name, key.meaning);
    for (auto const& key : simulated::machine_keys()) {
        std::printf("  machine.%-22s %s%s%s%s\n", key.name, key.meaning, *key.unit ? " (" : "",
                    key.unit, *key.unit ? ")" : "");
    }
    for (std::string const& name : simulated::machine_names()) {
        std::printf("\n# preset %s\n%s", name.c_str(),
                    describe(*simulated::machine_named(name)).c_str());
    }
}

constexpr char simulate_usage[] =
    "usage: sluice simulate [FILE.toml] [--set SECTION.KEY=VALUE ...] [--json]\n"
    "       sluice simulate LOG [--access NUMBER|all] [--set ...] [--json]  of a job: see "
    "sluice record\n"
    "       sluice simulate --check [--set ...]  all kernels on all patterns\n"
    "       sluice simulate --keys               what a description may say\n";

int run_one(tools::Scenario const& scenario, bool as_json) {
    auto const impossible = why_not(scenario);
    if (!impossible.empty()) {
        std::fprintf(stderr, "sluice simulate: %s %s\n", scenario.pattern.name.c_str(),
                     impossible.c_str());
        return bad_usage;
    }
    auto const begin = std::chrono::steady_clock::now();
    auto const outcome = simulated::run(experiment_of(scenario));
    std::chrono::duration<double> const real = std::chrono::steady_clock::now() - begin;
    if (as_json)
        std::printf("%s\n", json(scenario, outcome).c_str());
    else
        print(scenario, outcome, real.count());
    return outcome.fault.empty() ? 0 : 1;
}

int complain(Description const& description) {
    auto const said = with_reference(description.error(), "sluice simulate --keys");
    std::fprintf(stderr, "sluice simulate: %s\n", said.c_str());
    return bad_usage;
}

int run_recorded(tools::RecordedQuestion& recorded, Description& description, bool as_json) {
    recorded.choose(description);
    if (!as_json) std::printf("%s", recorded.list().c_str());
    int code = recorded.chosen().empty() ? complain(description) : 0;
    for (auto const* const access : recorded.chosen()) {
        Description own = description;
        auto const scenario = tools::scenario_of(*access, own);
        if (!own.error().empty()) return complain(own);
        if (!as_json) std::printf("\n%s\n\n", describe(*access).c_str());
        code = std::max(code, run_one(scenario, as_json));
    }
    return code;
}

}  // namespace

int command_simulate(int argc, char** argv) {
    Description description;
    tools::RecordedQuestion recorded;
    bool check = false, as_json = false;
    for (int i = 0; i < argc; ++i) {
        std::string const argument = argv[i];
        if (argument == "--keys") return print_keys(), 0;
        if (asks_for_help(argument)) return tell(simulate_usage);
        if (argument == "--check") {
            check = true;
        } else if (argument == "--json") {
            as_json = true;
        } else if (argument == "--set" && i + 1 < argc) {
            description.set(argv[++i]);
        } else if (argument == "--access" && i + 1 < argc) {
            description.set("run.access=" + std::string(argv[++i]));
        } else if (!argument.starts_with("-") && is_record(argument)) {
            recorded.read(argument, description);
        } else if (!argument.starts_with("-")) {
            auto const text = tools::read_text(argument);
            if (!text) description.fail("cannot read " + argument);
            if (text) description.add(*text);
        } else {
            return not_understood("simulate", argc, argv, simulate_usage);
        }
    }
    if (recorded.given()) return run_recorded(recorded, description, as_json);
    auto const scenario = tools::take_scenario(description);
    if (!description.error().empty()) return complain(description);
    return check ? tools::check_kernels(scenario) : run_one(scenario, as_json);
}

}  // namespace sluice
