// `sluice replay`: makes the calls of a recorded log again, under mpiexec with as many ranks.
#include "base/printable.hpp"
#include "bench/measure/end_job.hpp"
#include "bench/replay/player.hpp"
#include "tools/command_line.hpp"
#include "tools/launched.hpp"
#include "tools/recorded/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace sluice::replay {
namespace {

/// What all ranks found.
struct Totals {
    double seconds = 0, recorded = 0;  ///< Of the slowest rank.
    double in_calls = 0, in_calls_recorded = 0;
    double late = 0;
    std::int64_t errors = 0, wrong = 0, checked = 0;
};

double largest(double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

std::int64_t sum(std::int64_t mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

Totals totals_of(Outcome const& mine) {
    return {largest(mine.seconds),
            largest(mine.recorded),
            largest(mine.blocked.replayed),
            largest(mine.blocked.recorded),
            largest(mine.late),
            sum(mine.errors),
            sum(mine.wrong),
            sum(mine.checked)};
}

double percent_more(double here, double there) { return there > 0 ? 100 * (here / there - 1) : 0; }

void print_calls(Outcome const& outcome) {
    std::printf("  %-20s %8s %12s %12s   (rank 0)\n", "call", "calls", "replayed", "recorded");
    for (auto const& [name, times] : outcome.calls)
        std::printf("  %-20s %8lld %10.4f s %10.4f s\n", name.c_str(),
                    static_cast<long long>(times.calls), times.replayed, times.recorded);
}

void print(Totals const& t, Options const& options, int pass) {
    std::printf("sluice replay: pass %d: %.4f s, recorded %.4f s (%+.1f %%); in calls %.4f s, "
                "recorded %.4f s (%+.1f %%)\n",
                pass + 1, t.seconds, t.recorded, percent_more(t.seconds, t.recorded), t.in_calls,
                t.in_calls_recorded, percent_more(t.in_calls, t.in_calls_recorded));
    if (t.late > 0.01 * t.seconds)
        std::printf(
            "  making the bytes took %.4f s longer than the computation between the calls\n",
            t.late);
    if (options.check)
        std::printf("  %lld bytes compared, %lld wrong\n", static_cast<long long>(t.checked),
                    static_cast<long long>(t.wrong));
}

/// One line of JSON for each pass.
void write_json(Options const& options, Totals const& t, int ranks, int pass) {
    std::FILE* const file = std::fopen(options.json.c_str(), "ae");
    if (!file) end_job("sluice replay: cannot write " + options.json);
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::string_view const all = version;
    std::string mpi(all.substr(0, all.find('\n')));
    std::ranges::replace(mpi, '\t', ' ');
    char date[32] = "";
    std::time_t const time = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
    std::fprintf(file,
                 "{\"mode\": \"replay\", \"log\": %s, \"hints\": %s, \"ranks\": %d, "
                 "\"pass\": %d, \"seconds\": %.6f, \"recorded_seconds\": %.6f, \"in_calls\": %.6f, "
                 "\"recorded_in_calls\": %.6f, \"late\": %.6f, \"errors\": %lld, "
                 "\"checked\": %lld, \"wrong\": %lld, \"sluice_version\": \"%s\", "
                 "\"sluice\": %s, \"mpi_library\": %s, \"date\": \"%s\"}\n",
                 quoted_for_json(options.log).c_str(), quoted_for_json(options.hints).c_str(),
                 ranks, pass, t.seconds, t.recorded, t.in_calls, t.in_calls_recorded, t.late,
                 static_cast<long long>(t.errors), static_cast<long long>(t.checked),
                 static_cast<long long>(t.wrong), SLUICE_VERSION,
                 quoted_for_json(std::getenv("SLUICE") ? std::getenv("SLUICE") : "on").c_str(),
                 quoted_for_json(mpi).c_str(), date);
    std::fclose(file);
}

/// One pass; true: all went well.
bool play(Options const& options, record::RankLog const& log, int pass, int rank, int ranks) {
    Player player(options, log, pass);
    player.prepare();
    MPI_Barrier(MPI_COMM_WORLD);
    player.play();
    MPI_Barrier(MPI_COMM_WORLD);
    if (options.check) player.check();
    Outcome const& mine = player.outcome();
    Totals const totals = totals_of(mine);
    if (rank == 0) print(totals, options, pass);
    if (rank == 0 && pass == 0) print_calls(mine);
    if (rank == 0 && !options.json.empty()) write_json(options, totals, ranks, pass);
    if (!mine.first_error.empty())
        std::fprintf(stderr, "sluice replay: rank %d: %s\n", rank, mine.first_error.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    if (!options.keep) player.remove_files();
    return totals.errors == 0 && totals.wrong == 0;
}

/// The part of this rank; ends the job where the log is not whole, or of another number of ranks.
int run(Options const& options) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    auto const text = read_record(options.log);
    if (!text.error.empty()) end_job("sluice replay: " + text.error);
    auto const log = record::read_log(text.text, rank);
    if (!log.error.empty()) end_job("sluice replay: " + options.log + ": " + log.error);
    if (log.expected != ranks)
        end_job("sluice replay: " + options.log + " is of " + std::to_string(log.expected) +
                " ranks: start it with mpiexec -n " + std::to_string(log.expected));
    record::RankLog const* const mine = log.of_rank(rank);
    if (!mine || !mine->complete)
        end_job("sluice replay: the log of rank " + std::to_string(rank) +
                " does not go to its end, and collective calls would wait for it for ever: "
                "record the job again");
    bool good = true;
    for (int pass = 0; pass < options.files; ++pass)
        good = play(options, *mine, pass, rank, ranks) && good;
    return good ? 0 : 1;
}

ParsedLine parse(Options& options, int argc, char** argv) {
    CLI::App app("Makes the calls of a log of sluice record again, under mpiexec with as many "
                 "ranks: with Sluice, or with SLUICE=off on the MPI alone",
                 "sluice replay");
    std::map<std::string, Compute> const ways{
        {"sleep", Compute::sleep}, {"spin", Compute::spin}, {"none", Compute::none}};
    std::string way = "spin";
    app.add_option("LOG", options.log, "what sluice record wrote")->required();
    app.add_option("--dir", options.folder, "where the files are made")->required();
    app.add_option("--files", options.files, "play it so often, each time into new files")
        ->check(CLI::PositiveNumber);
    app.add_option("--compute", way, "time between calls: sleep, spin (usual) or none")
        ->check(CLI::IsMember({"sleep", "spin", "none"}));
    app.add_option("--hints", options.hints, "for all files: name=value;name=value");
    app.add_option("--json", options.json, "appends a line for each pass");
    app.add_option("--seed", options.seed, "of the bytes that are written");
    app.add_flag("--check", options.check, "compare all bytes that were read, and those written");
    app.add_flag("--keep", options.keep, "leave the files there");
    ParsedLine parsed = parse_line(app, argc, argv);
    options.compute = ways.at(way);
    return parsed;
}

}  // namespace
}  // namespace sluice::replay

int main(int argc, char** argv) {
    using namespace sluice;
    replay::Options options;
    ParsedLine const parsed = replay::parse(options, argc, argv);
    if (parsed.exit_code && launched().rank <= 0) parsed.tell();
    if (parsed.exit_code) return *parsed.exit_code;
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tools::end_if_apart(ranks);
    int const code = replay::run(options);
    MPI_Finalize();
    return code;
}
