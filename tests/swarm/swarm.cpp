// Runs worlds that are drawn from seeds until its time is over: DrawnWorld, and nodes with durable
// journals that crash. Worlds run in child processes, so that one that crashes, or that goes round
// for ever, is a failure like others. A failing world is made smaller while it still fails, and its
// command is printed.
#include "drawn_world.hpp"

#include "tests/unit/drawn.hpp"
#include "tests/unit/journal_node.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::swarm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned seconds_of_a_world = 60;  ///< Its process is ended then.
constexpr std::size_t text_bytes = 8000;

/// What a child tells its parent, who may read it after the child has crashed.
struct Told {
    std::atomic<std::uint64_t> seed{0};
    std::int64_t worlds = 0, crashed_nodes = 0;
    Counts counts;
    char wrong[text_bytes]{};
    char world[text_bytes]{};
};
static_assert(std::is_trivially_destructible_v<Told>);

Told& make_told() {
    void* const page =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return *new (page) Told;
}

struct Failure {
    std::uint64_t seed = 0;
    std::string wrong, world;
};

void copy(std::string const& text, char (&to)[text_bytes]) {
    std::snprintf(to, sizeof to, "%s", text.c_str());
}

// Beside DrawnWorld's places.
constexpr std::int64_t has_journal_place = 7, journal_place = 8;

bool has_journal(std::uint64_t seed) { return Random(seed, {has_journal_place}).chance(20); }

std::string run_journal(std::uint64_t seed, Told& told) {
    int const events = Random(seed, {journal_place}).between(1, 250);
    copy("a node with a durable journal crashes at event " + std::to_string(events), told.world);
    journal_crash::CrashingNode node(static_cast<unsigned>(seed), events);
    node.live(60);
    if (!node.has_crashed()) return {};
    ++told.crashed_nodes;
    auto const at = node.first_wrong_after_recovery();
    return at < 0 ? std::string() : "file offset " + std::to_string(at) + " is wrong";
}

std::string run_world(std::uint64_t seed, Limits const& limits, Told& told) {
    if (has_journal(seed)) return run_journal(seed, told);
    DrawnWorld world(seed, limits);
    copy(world.describe(), told.world);
    std::string const wrong = world.run();
    if (!wrong.empty()) copy(world.describe(), told.world);
    told.counts.add(world.counts());
    return wrong;
}

[[noreturn]] void live_as_child(std::uint64_t first, std::int64_t worlds, Limits const& limits,
                                Clock::time_point until, Told& told) {
    for (std::int64_t i = 0; i < worlds && (i == 0 || Clock::now() < until); ++i) {
        told.seed = first + static_cast<std::uint64_t>(i);
        alarm(seconds_of_a_world);
        std::string const wrong = run_world(told.seed, limits, told);
        ++told.worlds;
        if (wrong.empty()) continue;
        copy(wrong, told.wrong);
        _exit(1);
    }
    _exit(0);
}

std::string describe_end(int status) {
    if (!WIFSIGNALED(status))
        return "its process ended with " + std::to_string(WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM)
        return "it did not end in " + std::to_string(seconds_of_a_world) + " s";
    return std::string("its process ended by a signal: ") + strsignal(WTERMSIG(status));
}

/// Worlds of the seeds from `first` on, up to the first that fails; no seed is 0.
std::optional<Failure> run_worlds(std::uint64_t first, std::int64_t worlds, Limits const& limits,
                                  Clock::time_point until, Told& told) {
    told.wrong[0] = told.world[0] = 0;
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child < 0) throw std::runtime_error("no process can be started");
    if (child == 0) live_as_child(first, worlds, limits, until, told);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) return std::nullopt;
    bool const is_told = told.wrong[0] != 0;
    return Failure{told.seed, is_told ? told.wrong : describe_end(status), told.world};
}

// ---- Shrinking ---------------------------------------------------------------------------------

/// Whether two failures are of the same kind: what is wrong, but for numbers.
bool are_alike(std::string const& a, std::string const& b) {
    constexpr std::size_t words = 40;
    auto const without_numbers = [](std::string text) {
        std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
        return text.substr(0, words);
    };
    return without_numbers(a) == without_numbers(b);
}

/// An option that limits worlds.
struct Option {
    char const* name;
    std::int64_t Limits::* value;
};

constexpr Option options[] = {
    {"--phases", &Limits::phases},
    {"--calls", &Limits::calls},
    {"--files", &Limits::files},
    {"--ranks", &Limits::ranks},
    {"--bad-calls", &Limits::bad_calls},
    {"--ends", &Limits::ends},
    {"--storage-faults", &Limits::storage_faults},
    {"--devices", &Limits::devices},
    {"--short-counts", &Limits::short_counts},
    {"--memory-layouts", &Limits::memory_layouts},
    {"--several-nodes", &Limits::several_nodes},
    {"--order", &Limits::order},
    {"--hints", &Limits::hints},
    {"--bytes", &Limits::bytes},
};

bool is_switch(Option const& option) { return Limits{}.*option.value == 1; }

/// Smaller values of an option, the smallest first.
std::vector<std::int64_t> smaller(Option const& option, std::int64_t value) {
    if (is_switch(option))
        return value == 1 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{};
    std::vector<std::int64_t> all;
    for (std::int64_t const next : {std::int64_t{1}, value / 4, value / 2, value - 1})
        if (next >= 1 && next < value && (all.empty() || next > all.back())) all.push_back(next);
    return all;
}

bool make_smaller(Failure& failure, Limits& limits, Told& told) {
    for (Option const& option : options) {
        for (std::int64_t const value : smaller(option, limits.*option.value)) {
            Limits less = limits;
            less.*option.value = value;
            auto const again = run_worlds(failure.seed, 1, less, Clock::now(), told);
            if (!again || !are_alike(again->wrong, failure.wrong)) continue;
            failure = *again, limits = less;
            return true;
        }
    }
    return false;
}

std::string command(Failure const& failure, Limits const& limits) {
    std::string text = "swarm --seed " + std::to_string(failure.seed) + " --worlds 1";
    for (Option const& option : options) {
        std::int64_t const value = limits.*option.value;
        if (value != Limits{}.*option.value)
            text += std::string(" ") + option.name + " " + std::to_string(value);
    }
    return text;
}

void print(char const* title, Failure const& failure, Limits const& limits) {
    std::printf("%s: %s\n  %s\n  repeat: %s\n", title, failure.wrong.c_str(), failure.world.c_str(),
                command(failure, limits).c_str());
    std::fflush(stdout);
}

// ---- The run -----------------------------------------------------------------------------------

struct Orders {
    std::uint64_t seed = 0;
    std::int64_t worlds = 0;
    double seconds = 10;
    bool shrinks = true, goes_on = false;
    Limits limits;
};

constexpr std::int64_t worlds_of_a_child = 500;

void print_summary(Orders const& orders, Told const& told, std::int64_t failed, double seconds) {
    Counts const& c = told.counts;
    std::pair<char const*, std::int64_t> const all[] = {
        {"worlds", told.worlds},
        {"failed", failed},
        {"seed", static_cast<std::int64_t>(orders.seed)},
        {"seconds", std::llround(seconds)},
        {"calls", c.calls},
        {"failed_calls", c.failed_calls},
        {"bytes", c.bytes},
        {"events", c.events},
        {"most_events", c.most_events},
        {"storage_faults", c.storage_faults},
        {"ended_ranks", c.ended_ranks},
        {"bad_calls", c.bad_calls},
        {"crashed_nodes", told.crashed_nodes},
    };
    char const* before = "{";
    for (auto const& [name, value] : all) {
        std::printf("%s\"%s\": %lld", before, name, static_cast<long long>(value));
        before = ", ";
    }
    std::printf("}\n");
}

/// Prints a failing world, and the smallest that fails in the same way. What that takes does not
/// count.
void report(Failure failure, Orders const& orders, Told& told) {
    print("FAILED", failure, orders.limits);
    if (!orders.shrinks) return;
    Limits limits = orders.limits;
    auto const worlds = told.worlds;
    Counts const counts = told.counts;
    while (make_smaller(failure, limits, told)) {
    }
    told.worlds = worlds, told.counts = counts;
    print("shrunk", failure, limits);
}

/// How many worlds failed.
std::int64_t try_worlds(Orders const& orders, Clock::time_point until, Told& told) {
    bool const is_counted = orders.worlds > 0;
    if (is_counted) until = Clock::time_point::max();
    std::uint64_t next = orders.seed;
    auto const end = orders.seed + static_cast<std::uint64_t>(orders.worlds);
    std::int64_t failed = 0;
    while (is_counted ? next < end : Clock::now() < until) {
        auto const left = static_cast<std::int64_t>(end - next);
        auto const count = is_counted ? std::min(worlds_of_a_child, left) : worlds_of_a_child;
        auto const before = told.worlds;
        auto const failure = run_worlds(next, count, orders.limits, until, told);
        next =
            failure ? failure->seed + 1 : next + static_cast<std::uint64_t>(told.worlds - before);
        if (!failure) continue;
        ++failed;
        report(*failure, orders, told);
        if (!orders.goes_on) break;
    }
    return failed;
}

int run(Orders orders) {
    if (orders.seed == 0) orders.seed = testing::run_seed() | 1;
    std::printf("seed %llu\n", static_cast<unsigned long long>(orders.seed));
    Told& told = make_told();
    auto const begin = Clock::now();
    auto const until = begin + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(orders.seconds));
    std::int64_t const failed = try_worlds(orders, until, told);
    print_summary(orders, told, failed,
                  std::chrono::duration<double>(Clock::now() - begin).count());
    return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace sluice::swarm

int main(int argc, char** argv) {
    using namespace sluice::swarm;
    Orders orders;
    CLI::App app("Runs simulated worlds that are drawn from seeds, and checks them.");
    app.add_option("--seed", orders.seed, "of the first world; 0: a new one");
    app.add_option("--worlds", orders.worlds, "in place of a time");
    app.add_option("--seconds", orders.seconds, "how long to go on");
    app.add_flag("--shrink,!--no-shrink", orders.shrinks, "make failing worlds smaller");
    app.add_flag("--keep-going", orders.goes_on, "behind failing worlds");
    for (Option const& option : options)
        app.add_option(option.name, orders.limits.*option.value,
                       is_switch(option) ? "1 or 0" : "at most so many in a world");
    CLI11_PARSE(app, argc, argv);
    return run(orders);
}
