// Reducing and printing of statistics. See statistics.hpp.
#include "api/statistics.hpp"

#include "api/environment.hpp"

#include <cstdio>

namespace sluice {
namespace {

std::vector<std::string>& lines() {
    static auto* const only = new std::vector<std::string>;
    return *only;
}

std::string formatted(FileStatistics const& s, double const* most, double const* processor,
                      std::string const& path) {
    double const hidden = most[1] > 0 ? std::max(0.0, 1 - most[0] / most[1]) : 0;
    char text[512];
    std::snprintf(text, sizeof text,
                  "  %lld operations (%lld writes, %lld reads), %.1f MiB\n"
                  "  blocked %.3f s, under way %.3f s, hidden %.0f %%\n"
                  "  processor time so far: helper %.3f s, storage threads %.3f s\n"
                  "  last plan: ",
                  static_cast<long long>(s.operations), static_cast<long long>(s.writes),
                  static_cast<long long>(s.reads), static_cast<double>(s.bytes) / (1 << 20),
                  most[0], most[1], 100 * hidden, processor[0], processor[1]);
    std::string plan = s.operations == 0 ? "none" : describe(s.last_plan);
    for (auto at = plan.find('\n'); at != std::string::npos; at = plan.find('\n', at + 3)) {
        plan.replace(at, 1, "\n  ");
    }
    return path + "\n" + text + plan;
}

}  // namespace

void collect_statistics(File const& file) {
    if (!settings().statistics) return;
    FileStatistics all = file.statistics();
    double const mine[2]{all.blocked_seconds, all.busy_seconds};
    double most[2]{};
    double const sums[3]{static_cast<double>(all.bytes), Progress::instance().helper_seconds(),
                         storage_seconds()};
    double total[3]{};
    MPI_Comm const communicator = file.team->communicator;
    PMPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, communicator);
    PMPI_Reduce(sums, total, 3, MPI_DOUBLE, MPI_SUM, 0, communicator);
    if (file.team->self != 0) return;
    all.bytes = static_cast<Bytes>(total[0]);
    lines().push_back(formatted(all, most, total + 1, file.path));
}

void print_statistics() {
    for (auto const& line : lines()) std::fprintf(stderr, "sluice: %s\n", line.c_str());
    lines().clear();
}

}  // namespace sluice
