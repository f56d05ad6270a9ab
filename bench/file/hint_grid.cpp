// The hints of the MPI's own that a comparison tries. ROMIO (MPICH, Intel MPI): how many ranks
// aggregate, how much at a time, and independent access without or with data sieving. OMPIO (Open
// MPI) knows fewer per file: which component makes collective calls (`fcoll`) is a parameter of the
// whole job only, so it is not tried.
#include <algorithm>
#include <array>
#include <limits>

#include "bench/file/contender.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

using Grid = std::vector<std::vector<std::string>>;

constexpr std::array buffer_sizes{"1M", "4M", "16M", "64M"};

/// ROMIO wants plain numbers.
std::string bytes_of(std::string const& size) { return std::to_string(std::stoull(size) << 20); }

std::vector<int> aggregators(int ranks) {
    std::vector<int> result;
    for (int const count : {1, 2, ranks})
        if (count <= ranks && (result.empty() || result.back() != count)) result.push_back(count);
    return result;
}

Grid romio(int ranks) {
    Grid grid{{}};
    std::vector<std::string> const both{"romio_cb_write=enable", "romio_cb_read=enable"};
    for (int const nodes : aggregators(ranks))
        for (auto const* size : buffer_sizes) {
            auto hints = both;
            // Without the list ROMIO takes one aggregator a node at most.
            hints.push_back(text_of("cb_config_list=*:%d", nodes));
            hints.push_back(text_of("cb_nodes=%d", nodes));
            hints.push_back("cb_buffer_size=" + bytes_of(size));
            grid.push_back(hints);
        }
    for (auto const* sieving : {"enable", "disable"})
        grid.push_back({"romio_cb_write=disable", "romio_cb_read=disable",
                        std::string("romio_ds_write=") + sieving,
                        std::string("romio_ds_read=") + sieving});
    return grid;
}

Grid ompio(int ranks) {
    Grid grid{{}};
    for (int const nodes : aggregators(ranks))
        for (auto const* size : buffer_sizes)
            grid.push_back({text_of("cb_nodes=%d", nodes), "cb_buffer_size=" + bytes_of(size)});
    grid.push_back({"collective_buffering=false"});
    return grid;
}

}  // namespace

std::vector<std::vector<std::string>> hint_grid(int ranks) {
    bool const open_mpi = mpi_library().find("Open MPI") != std::string::npos;
    return open_mpi ? ompio(ranks) : romio(ranks);
}

std::vector<std::string> best_of_grid(
    Run const& run, std::string const& label,
    std::function<double(std::vector<std::string> const&, double enough)> const& seconds_with) {
    constexpr double hopeless = 3, long_enough = 1;
    double shortest = std::numeric_limits<double>::infinity();
    std::vector<std::string> best;
    for (auto const& hints : hint_grid(run.ranks)) {
        run.progress->step(label + ": hints " + (hints.empty() ? "default" : hints.back()));
        double const seconds = seconds_with(hints, std::min(hopeless * shortest, long_enough));
        if (seconds < shortest) shortest = seconds, best = hints;
    }
    return best;
}

}  // namespace sluice::bench
