// `sluice explain`: what the library would do with a pattern on a machine, and why, in words.
#include "tools/command.hpp"
#include "tools/explain/text.hpp"

#include <cstdio>
#include <string_view>

namespace sluice {
namespace {

/// Short options and the keys of a description that they stand for.
struct Option {
    char const* name;
    char const* key;
    char const* meaning;
};

constexpr Option options[] = {
    {"--pattern", "pattern.name", "which pattern: see sluice simulate --keys"},
    {"--bytes", "pattern.bytes", "of each rank"},
    {"--piece", "pattern.piece_bytes", "bytes of a piece, where the pattern has a choice"},
    {"--decomposition", "pattern.decomposition", "file of the pattern e3sm"},
    {"--direction", "pattern.direction", "write or read"},
    {"--ranks", "explain.ranks", "how many, on all nodes"},
    {"--ranks-per-node", "machine.ranks_per_node", "how many on each node"},
    {"--machine", "explain.machine", "file of a machine's profile: see sluice calibrate"},
    {"--blocking", "explain.blocking", "whether callers wait for the call: true or false"},
    {"--memory", "explain.memory", "staging memory of a node (256M): SLUICE_MEMORY"},
    {"--rank", "explain.rank", "whose steps are told"},
    {"--rounds", "explain.rounds", "how many rounds of it (1)"},
    {"--lines", "explain.lines", "of a list, at most (16)"},
};

int usage(std::FILE* to = stderr) {
    std::fprintf(to, "usage: sluice explain [FILE.toml] [OPTION VALUE ...]\n");
    for (Option const& option : options)
        std::fprintf(to, "  %-18s %s\n", option.name, option.meaning);
    std::fprintf(to, "  %-18s %s\n  %-18s %s\n", "--hint NAME=VALUE",
                 "a hint of MPI_File_open: see sluice info", "--set KEY=VALUE",
                 "a key of the description: see sluice simulate --keys");
    return to == stdout ? 0 : bad_usage;
}

Option const* option_of(std::string_view name) noexcept {
    for (Option const& option : options)
        if (name == option.name) return &option;
    return nullptr;
}

/// False: the arguments are not understood.
bool read_arguments(int argc, char** argv, Description& description) {
    for (int i = 0; i < argc; ++i) {
        std::string const argument = argv[i];
        if (!argument.starts_with("-")) {
            auto const text = tools::read_text(argument);
            if (!text) description.fail("cannot read " + argument);
            if (text) description.add(*text);
            continue;
        }
        if (++i == argc) return false;
        Option const* const option = option_of(argument);
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

tools::Question take_question(Description& description) {
    tools::Question question;
    description.take("explain.memory", question.memory_bytes);
    description.take("explain.rank", question.rank);
    description.take("explain.rounds", question.rounds);
    description.take("explain.lines", question.lines);
    description.take("explain.blocking", question.blocking);
    question.machine = take_machine(description);
    std::int32_t ranks = 0;
    description.take("explain.ranks", ranks);
    question.scenario = tools::take_scenario(description);
    if (ranks != 0) set_ranks(description, ranks, question.scenario.machine);
    if (question.rank >= question.scenario.machine.ranks())
        description.fail("there is no rank " + std::to_string(question.rank));
    if (question.lines < 1) description.fail("--lines: expected at least 1");
    return question;
}

}  // namespace

int command_explain(int argc, char** argv) {
    if (argc > 0 && asks_for_help(argv[0])) return usage(stdout);
    Description description;
    if (argc == 0 || !read_arguments(argc, argv, description)) return usage();
    auto const question = take_question(description);
    std::string fault = description.error();
    if (fault.empty()) {
        auto const impossible = why_not(question.scenario);
        if (!impossible.empty()) fault = question.scenario.pattern.name + ": " + impossible;
    }
    if (!fault.empty()) {
        std::fprintf(stderr, "sluice explain: %s\n", fault.c_str());
        return bad_usage;
    }
    std::fputs(tools::explain(question).c_str(), stdout);
    return 0;
}

}  // namespace sluice
