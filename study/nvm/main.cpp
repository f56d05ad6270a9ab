// sluice-nvm (`sluice bench nvm`): becomes the study of the NVM paper, a Python program. What that
// asks of the paper's equations is answered here, by `sluice bench nvm model`.
#include "base/machine.hpp"
#include "study/nvm/paper_model.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace sluice {
namespace {

constexpr double megabyte = 1e6;

struct Question {
    PaperModel model;
    std::string profile;
    Direction direction = Direction::write;
    double ranks = 4, aggregators = 1;
    double bytes = 0;  ///< Of all ranks.
    double window = 16 * megabyte, transfer = 16 * megabyte;
};

constexpr char usage[] =
    "usage: sluice bench nvm model OPTION ...   the equations of the NVM paper, as JSON\n"
    "  --profile FILE      of sluice calibrate; for parameters that are not given:\n"
    "  --start S --megabyte S --sequential MB/S --random MB/S\n"
    "  --ranks N --aggregators N --bytes N (of all ranks) --window N --transfer N\n"
    "  --direction write, read\n";

bool take(Question& question, std::string const& name, char const* value) {
    std::pair<char const*, double*> const numbers[] = {
        {"--start", &question.model.start},
        {"--megabyte", &question.model.megabyte},
        {"--sequential", &question.model.sequential},
        {"--random", &question.model.random},
        {"--ranks", &question.ranks},
        {"--aggregators", &question.aggregators},
        {"--bytes", &question.bytes},
        {"--window", &question.window},
        {"--transfer", &question.transfer},
    };
    for (auto const& [known, number] : numbers) {
        if (name != known) continue;
        char* end = nullptr;
        *number = std::strtod(value, &end);
        return *end == 0 && *number > 0;
    }
    if (name == "--profile") return !(question.profile = value).empty();
    if (name != "--direction") return false;
    question.direction = std::strcmp(value, "read") == 0 ? Direction::read : Direction::write;
    return true;
}

/// Megabytes a second of so many clients with a request of this size each.
double bandwidth(RequestCosts const& costs, double bytes, double clients) {
    return clients * bytes / costs.seconds(bytes, clients) / megabyte;
}

/// The paper's parameters that were not given, out of what was calibrated: aggregators go through
/// the file in order, all ranks by themselves do not.
bool take_profile(Question& question) {
    std::ifstream file(question.profile);
    std::ostringstream text;
    text << file.rdbuf();
    std::string why;
    auto const machine = machine_described(text.str(), why);
    if (!file || !machine) {
        std::fprintf(stderr, "sluice bench nvm model: %s: %s\n", question.profile.c_str(),
                     why.empty() ? std::strerror(errno) : why.c_str());
        return false;
    }
    auto const way = index_of(question.direction);
    auto const set = [](double& value, double calibrated) {
        if (value == 0) value = calibrated;
    };
    auto& model = question.model;
    set(model.start, machine->between.start);
    set(model.megabyte, machine->between.byte * megabyte);
    set(model.sequential,
        bandwidth(machine->sequential[way], question.window, question.aggregators));
    set(model.random, bandwidth(machine->random[way], question.transfer, question.ranks));
    return true;
}

/// "[1, 2]" of a value for each message from 32 KiB to 16 MiB.
std::string for_messages(std::function<double(double)> const& value) {
    constexpr int smallest = 15, largest = 24;
    std::string text;
    for (int power = smallest; power <= largest; ++power) {
        char number[32];
        std::snprintf(number, sizeof number, "%.9g", value(static_cast<double>(1 << power)));
        text += (text.empty() ? "[" : ", ") + std::string(number);
    }
    return text + "]";
}

/// Seconds of the slowest aggregator, and of all ranks by themselves.
void answer(Question const& q) {
    auto const& model = q.model;
    double const all = q.bytes / megabyte, own = all / q.aggregators;
    double const iterations = own * megabyte / q.window;
    double const shuffle = model.shuffle(own, iterations);
    auto const cost = [&](double message) { return model.shuffle(message / megabyte, 1); };
    // One iteration: each aggregator moves a message's worth.
    auto const benefit = [&](double message) {
        double const moved = q.aggregators * message / megabyte;
        return model.individual(moved) - (cost(message) + moved / model.sequential);
    };
    std::printf("{\"start\": %.9g, \"megabyte\": %.9g, \"sequential\": %.9g, \"random\": %.9g, "
                "\"moved\": %.9g, \"ranks\": %.0f, \"aggregators\": %.0f, \"iterations\": %.9g, "
                "\"direction\": \"%s\", \"bytes\": %.0f, \"shuffle\": %.9g, \"collective\": %.9g, "
                "\"individual\": %.9g, ",
                model.start, model.megabyte, model.sequential, model.random, model.moved, q.ranks,
                q.aggregators, iterations, q.direction == Direction::write ? "write" : "read",
                q.bytes, shuffle, shuffle + all / model.sequential, model.individual(all));
    std::printf("\"message_bytes\": %s, \"cost\": %s, \"benefit\": %s}\n",
                for_messages([](double message) { return message; }).c_str(),
                for_messages(cost).c_str(), for_messages(benefit).c_str());
}

int model(int argc, char** argv) {
    if (argc > 0 && asks_for_help(argv[0])) return tell(usage);
    Question question;
    for (int i = 0; i < argc; i += 2)
        if (i + 1 == argc || !take(question, argv[i], argv[i + 1]))
            return not_understood("bench nvm model", argc, argv, usage);
    if (!question.profile.empty() && !take_profile(question)) return 1;
    if (question.model.sequential <= 0 || question.model.random <= 0)
        return not_understood("bench nvm model", argc, argv, usage);
    question.model.moved = 1 - question.aggregators / question.ranks;
    return answer(question), 0;
}

/// Becomes the study, which lies beside this program.
int study(int argc, char** argv) {
    std::string python = "python3", program = folder_of(own_program()) + "/nvm/study.py";
    if (access(program.c_str(), R_OK) != 0) {
        std::fprintf(stderr, "sluice bench nvm: %s is missing\n", program.c_str());
        return 1;
    }
    setenv("SLUICE_COMMAND", (installation() + "/bin/sluice").c_str(), 1);
    std::vector<char*> words{python.data(), program.data()};
    words.insert(words.end(), argv, argv + argc + 1);  // With the null pointer at their end.
    execvp(words[0], words.data());
    std::fprintf(stderr, "sluice bench nvm: cannot run python3: %s\n", std::strerror(errno));
    return 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "model") == 0) return sluice::model(argc - 2, argv + 2);
    return sluice::study(argc - 1, argv + 1);
}
