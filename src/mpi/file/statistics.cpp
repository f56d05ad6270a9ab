// How statistics are reduced over the ranks and printed. See statistics.hpp.
#include "mpi/file/statistics.hpp"

#include "system/environment.hpp"
#include "system/log.hpp"

#include <cstdio>

namespace sluice {
namespace {

bool any_opened = false;  ///< A file, by this rank.

/// A line that begins with a file's name, and those below it.
struct Said {
    std::string line, below;
};

std::vector<Said>& all_said() {
    static auto* const only = new std::vector<Said>;
    return *only;
}

/// What is reduced over the ranks of a file.
struct Most {
    double blocked, drained, busy, summary_exchange, claims, exchange, agreement, copies, transfers,
        messages, priced, blocked_for_memory;
};
struct Total {
    double bytes, helper, storage, messages, message_bytes, placed_bytes, passed, delayed,
        delayed_bytes, hits, misses, alone_writes, alone_reads, alone_bytes;
};

/// Of the rank that needed longest for each part. Up to eight operations are under way at once, so
/// that a stage can add up to more than the run took: the line says why.
std::string parts(Most const& most, Total const& total) {
    char text[512];
    std::snprintf(text, sizeof text,
                  "  stages, added up over operations that overlap, of the slowest rank: "
                  "exchange of summaries %.3f s, claims %.3f s, exchange %.3f s, agreement %.3f s\n"
                  "  in these: copies %.3f s, file %.3f s, messages %.3f s\n",
                  most.summary_exchange, most.claims, most.exchange, most.agreement, most.copies,
                  most.transfers, most.messages);
    std::string all = text;
    if (total.messages > 0) {
        std::snprintf(text, sizeof text,
                      "  between nodes: %.0f messages, %.1f MiB; %.1f MiB straight into collective "
                      "buffers\n",
                      total.messages, total.message_bytes / (1 << 20),
                      total.placed_bytes / (1 << 20));
        all += text;
    }
    return all;
}

/// A file that is used by independent calls alone has no operation, and is served all the same.
std::string alone(Total const& total) {
    if (total.alone_writes + total.alone_reads == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text, "  independent: %.0f writes, %.0f reads, %.1f MiB\n",
                  total.alone_writes, total.alone_reads, total.alone_bytes / (1 << 20));
    return text;
}

/// Calls that the MPI served on a file that this library serves otherwise.
std::string passed_on(Total const& total) {
    if (total.passed == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text, "  %.0f calls of the shared pointer were served by the MPI\n",
                  total.passed);
    return text;
}

/// What has been delayed is waited for somewhere.
std::string drained(Most const& most) {
    constexpr double least = 0.001;
    if (most.drained < least) return "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "  of it in sync, close and the like, for earlier calls: %.3f s\n", most.drained);
    return text;
}

/// Blocking writes whose calls returned before their bytes were in the file.
std::string delayed(Most const& most, Total const& total) {
    if (total.delayed == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "  written behind: %.0f blocking writes of all ranks, %.1f MiB, copied; blocked "
                  "for memory %.3f s\n",
                  total.delayed, total.delayed_bytes / (1 << 20), most.blocked_for_memory);
    std::string const& folder = settings().journal_folder;
    return text + (folder.empty() ? folder : "    to journals in " + folder + "\n");
}

/// Blocking reads whose bytes were there before they were asked for.
std::string reads_ahead(FileStatistics const& s, Total const& total) {
    if (total.hits + total.misses == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "  read ahead: %lld of %lld blocking collective reads; %lld guesses were wrong\n",
                  static_cast<long long>(s.ahead.hits), static_cast<long long>(s.reads),
                  static_cast<long long>(s.ahead.misses));
    return text;
}

/// A wrong model should be seen.
std::string foretold(Foretold const& priced, Most const& most) {
    if (priced.operations == 0) return "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "  cost model: %.3f s expected, %.3f s taken by %lld operations; farthest off: "
                  "%.2f of the time taken\n",
                  priced.estimated, most.priced, static_cast<long long>(priced.operations),
                  priced.worst);
    return text;
}

std::string formatted(FileStatistics const& s, Most const& most, Total const& total) {
    double const hidden = most.busy > 0 ? std::max(0.0, 1 - most.blocked / most.busy) : 0;
    char text[512];
    std::snprintf(text, sizeof text,
                  "  %lld operations (%lld writes, %lld reads), %.1f MiB\n%s"
                  "  blocked %.3f s, under way %.3f s, hidden %.0f %%\n%s"
                  "  processor time so far: helper %.3f s, storage threads %.3f s\n",
                  static_cast<long long>(s.operations), static_cast<long long>(s.writes),
                  static_cast<long long>(s.reads), total.bytes / (1 << 20), alone(total).c_str(),
                  most.blocked, most.busy, 100 * hidden, drained(most).c_str(), total.helper,
                  total.storage);
    std::string plan = s.operations == 0 ? "none" : describe(s.last_plan);
    for (auto at = plan.find('\n'); at != std::string::npos; at = plan.find('\n', at + 3)) {
        plan.replace(at, 1, "\n  ");
    }
    return text + delayed(most, total) + reads_ahead(s, total) + passed_on(total) +
           parts(most, total) + foretold(s.priced, most) + "  last plan: " + plan + "\n";
}

}  // namespace

bool wants_statistics() { return settings().log >= LogLevel::summaries; }

void collect_statistics(File const& file) {
    if (!wants_statistics()) return;
    FileStatistics const s = file.statistics();
    Tally const& t = s.tally;
    Most const mine{s.blocked_seconds,  s.drained_seconds, s.busy_seconds,
                    t.summary_exchange, t.claims,          t.exchange,
                    t.agreement,        t.copies,          t.transfers,
                    t.messages,         s.priced.measured, s.behind.blocked_for_memory};
    Total const part{static_cast<double>(s.bytes),
                     Progress::instance().helper_seconds(),
                     storage_seconds(),
                     static_cast<double>(t.messages_sent),
                     static_cast<double>(t.bytes_sent),
                     static_cast<double>(t.bytes_placed),
                     static_cast<double>(s.passed),
                     static_cast<double>(s.behind.writes),
                     static_cast<double>(s.behind.bytes),
                     static_cast<double>(s.ahead.hits),
                     static_cast<double>(s.ahead.misses),
                     static_cast<double>(s.alone.writes),
                     static_cast<double>(s.alone.reads),
                     static_cast<double>(s.alone.bytes)};
    Most most{};
    Total total{};
    MPI_Comm const communicator = file.team->communicator;
    PMPI_Reduce(&mine, &most, sizeof most / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, communicator);
    PMPI_Reduce(&part, &total, sizeof total / sizeof(double), MPI_DOUBLE, MPI_SUM, 0, communicator);
    if (file.team->self == 0) all_said().push_back({file.name, formatted(s, most, total)});
}

void note_opened() { any_opened = true; }

void note_left_to_mpi(std::string const& file, std::string const& why) {
    std::string const text = file + ": the MPI serves this file: " + why;
    note(text);
    if (wants_statistics() && world_rank() == 0) all_said().push_back({text, ""});
}

void print_statistics() {
    if (wants_statistics() && world_rank() == 0 && !any_opened) {
        say("no file was served: the program did not call MPI_File_open");
    }
    for (auto const& [line, below] : all_said()) say(line, below);
    all_said().clear();
}

}  // namespace sluice
