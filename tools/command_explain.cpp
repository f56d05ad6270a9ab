// `sluice explain`: what the library would do with a pattern on a machine, and why, in words.
#include "base/printable.hpp"
#include "tools/command.hpp"
#include "tools/explain/text.hpp"
#include "tools/options.hpp"
#include "tools/recorded/question.hpp"
#include "tools/recorded/text.hpp"
#include "tools/simulate/report.hpp"

#include <cstdio>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace sluice {
namespace {

/// Short options and the keys of a description that they stand for.
struct QuestionOption {
    char const* name;
    char const* key;
    char const* meaning;
};

constexpr QuestionOption question_options[] = {
    {"--pattern", "pattern.name", "which pattern: see sluice simulate --keys"},
    {"--bytes", "pattern.bytes", "of each rank"},
    {"--piece", "pattern.piece_bytes", "bytes of a piece, where the pattern has a choice"},
    {"--decomposition", "pattern.decomposition", "file of the pattern e3sm"},
    {"--direction", "pattern.direction", "write or read"},
    {"--ranks", "explain.ranks", "how many, on all nodes"},
    {"--ranks-per-node", "machine.ranks_per_node", "how many on each node"},
    {"--machine", "explain.machine", "file of a machine's profile: see sluice calibrate"},
    {"--cores", "explain.cores",
     "of each rank; else those of the log, or one for each rank of a node"},
    {"--blocking", "explain.blocking", "whether callers wait for the call: true or false"},
    {"--memory", "explain.memory", "staging memory of a node (256M): SLUICE_MEMORY"},
    {"--access", "run.access", "of a log: which one of its list, or all; else what took longest"},
    {"--rank", "explain.rank", "whose steps are told"},
    {"--rounds", "explain.rounds", "how many rounds of it (1)"},
    {"--lines", "explain.lines", "of a list, at most (16)"},
};

std::string explain_usage() {
    std::ostringstream text;
    text << "usage: sluice explain [FILE.toml] [OPTION VALUE ...]\n"
            "       sluice explain LOG [OPTION VALUE ...]  of a job: see sluice record\n";
    auto const line = [&](char const* name, char const* meaning) {
        text << "  " << std::left << std::setw(18) << name << " " << meaning << "\n";
    };
    for (QuestionOption const& option : question_options) line(option.name, option.meaning);
    line("--json", "of a log: one line for each access, in place of words");
    line("--hint NAME=VALUE", "a hint of MPI_File_open: see sluice info");
    line("--set KEY=VALUE", "a key of the description: see sluice simulate --keys");
    return text.str();
}

QuestionOption const* option_of(std::string_view name) noexcept {
    for (QuestionOption const& option : question_options)
        if (name == option.name) return &option;
    return nullptr;
}

/// False: the arguments are not understood.
bool read_arguments(int argc, char** argv, Description& description,
                    tools::RecordedQuestion& recorded, bool& as_json) {
    for (int i = 0; i < argc; ++i) {
        std::string const argument = argv[i];
        if (argument == "--json") {
            as_json = true;
            continue;
        }
        if (!argument.starts_with("-") && is_record(argument)) {
            recorded.read(argument, description);
            continue;
        }
        if (!argument.starts_with("-")) {
            auto const text = tools::read_text(argument);
            if (!text) description.fail("cannot read " + argument);
            if (text) description.add(*text);
            continue;
        }
        if (++i == argc) return false;
        QuestionOption const* const option = option_of(argument);
        if (option != nullptr)
            description.set(std::string(option->key) + "=" + argv[i]);
        else if (argument == "--hint")
            description.set(std::string("hints.") + argv[i]);
        else if (argument == "--set")
            description.set(argv[i]);
        else
            return false;
    }
    return true;
}

void set_ranks(Description& description, std::int32_t ranks, simulated::Machine& machine) {
    std::int32_t const each = std::min(machine.ranks_per_node, ranks);
    if (ranks < 1 || ranks % each != 0) {
        description.fail("--ranks " + std::to_string(ranks) + ": expected a multiple of the " +
                         std::to_string(machine.ranks_per_node) + " ranks of a node");
        return;
    }
    machine.ranks_per_node = each;
    machine.nodes = ranks / each;
}

/// The profile that was asked for; null where none was, or where it cannot be read.
std::shared_ptr<MachineProfile const> take_machine(Description& description) {
    auto const path = description.take("explain.machine");
    if (!path) return nullptr;
    auto const text = tools::read_text(*path);
    std::string error = "cannot be read";
    auto machine = text ? machine_described(*text, error) : std::nullopt;
    if (!machine) description.fail(*path + ": " + error);
    return machine ? std::make_shared<MachineProfile const>(*std::move(machine)) : nullptr;
}

/// `access`: of a log; null: what the description says.
tools::Question take_question(Description& description, tools::RecordedAccess const* access) {
    tools::Question question;
    description.take("explain.memory", question.memory_bytes);
    description.take("explain.rank", question.rank);
    description.take("explain.rounds", question.rounds);
    description.take("explain.lines", question.lines);
    question.machine = take_machine(description);
    std::int32_t ranks = 0;
    description.take("explain.ranks", ranks);
    if (access) question.blocking = access->blocking, question.cores = access->cores;
    description.take("explain.cores", question.cores);
    description.take("explain.blocking", question.blocking);
    question.scenario =
        access ? tools::scenario_of(*access, description) : tools::take_scenario(description);
    if (ranks != 0) set_ranks(description, ranks, question.scenario.machine);
    if (question.rank >= question.scenario.machine.ranks())
        description.fail("there is no rank " + std::to_string(question.rank));
    if (question.cores < 0) description.fail("--cores: expected at least 1");
    if (question.lines < 1) description.fail("--lines: expected at least 1");
    return question;
}

/// What the cost model says of an access of a log, for programs.
void print_json(tools::RecordedAccess const& access, tools::Question const& question) {
    tools::Subject const subject(question);
    std::string const plan = describe(subject.plan());
    std::printf("{\"call\": %s, \"file\": %s, \"calls\": %lld, \"ranks\": %zu, "
                "\"bytes\": %lld, \"pieces\": %lld, \"recorded_seconds\": %.9g, "
                "\"estimated_seconds\": %.9g, \"aggregators\": %d, \"plan\": \"%s\"}\n",
                quoted_for_json(access.call).c_str(), quoted_for_json(access.file).c_str(),
                static_cast<long long>(access.calls), access.requests.size(),
                static_cast<long long>(access.bytes), static_cast<long long>(subject.all_pieces()),
                access.seconds, subject.estimated_seconds(), subject.plan().aggregator_count(),
                plan.substr(0, plan.find('\n')).c_str());
}

int explain(Description& description, tools::RecordedAccess const* access, bool as_json) {
    auto const question = take_question(description, access);
    std::string fault = description.error();
    if (fault.empty()) {
        auto const impossible = why_not(question.scenario);
        if (!impossible.empty()) fault = question.scenario.pattern.name + ": " + impossible;
    }
    if (!fault.empty()) {
        std::fprintf(stderr, "sluice explain: %s\n", fault.c_str());
        return bad_usage;
    }
    if (as_json)
        print_json(*access, question);
    else
        std::fputs(tools::explain(question).c_str(), stdout);
    return 0;
}

}  // namespace

int command_explain(int argc, char** argv) {
    if (argc > 0 && asks_for_help(argv[0])) return tell(explain_usage());
    Description description;
    tools::RecordedQuestion recorded;
    bool as_json = false;
    bool const is_understood = argc > 0 &&
                               read_arguments(argc, argv, description, recorded, as_json) &&
                               (recorded.given() || !as_json);
    if (!is_understood) return not_understood("explain", argc, argv, explain_usage());
    if (!recorded.given()) return explain(description, nullptr, false);
    recorded.choose(description);
    if (!as_json) std::printf("%s", recorded.list().c_str());
    int code = recorded.chosen().empty() ? explain(description, nullptr, false) : 0;
    for (auto const* const access : recorded.chosen()) {
        Description own = description;
        if (!as_json) std::printf("\n%s\n\n", describe(*access).c_str());
        code = std::max(code, explain(own, access, as_json));
    }
    return code;
}

}  // namespace sluice
