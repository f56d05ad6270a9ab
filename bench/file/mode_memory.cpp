// Mode memory: how much a process grows while a file with a view is open, and at most while it is
// written, for each piece of the view. Memory shared by the node counts once it is touched, so a
// first write of another pattern touches it before anything is measured.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "bench/file/access.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

/// A line such as "VmRSS:   123 kB" of this process, in bytes.
double resident(std::string const& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stod(line.substr(name.size() + 1)) * 1024;
    return 0;
}

/// What the process has now; from here on its peak counts anew.
double begin_watching() {
    malloc_trim(0);  // What others freed would hide what is allocated now.
    std::ofstream("/proc/self/clear_refs") << 5;
    return resident("VmRSS");
}

struct Growth {
    double kept = 0, peak = 0;  ///< Bytes, of the rank that grew most.
};

/// From before the file is opened: with a view set, and at most until it is closed again.
Growth growth(Run const& run, Side side, Pattern const& pattern, std::vector<double>& buffer) {
    MPI_Barrier(MPI_COMM_WORLD);
    double const before = begin_watching();
    Growth grown;
    {
        File const file(run, side);
        Hints const hints(run, side);
        set_view(file.handle, 0, pattern, hints.info);
        grown.kept = resident("VmRSS") - before;
        run_access(file.handle, pattern, buffer, true);
    }
    grown.peak = resident("VmHWM") - before;
    return {max_over_ranks(grown.kept), max_over_ranks(grown.peak)};
}

void touch_shared_memory(Run const& run, Side side) {
    Pattern const pattern(run, "strided", run.bytes());
    auto buffer = pattern.access_buffer();
    File const file(run, side);
    Hints const hints(run, side);
    set_view(file.handle, 0, pattern, hints.info);
    run_access(file.handle, pattern, buffer, true);
}

void measure(Run& run, std::string const& name) {
    Pattern const pattern(run, name, run.bytes());
    auto buffer = pattern.access_buffer();
    pattern.fill_access(buffer, 1);
    auto const pieces = double(pattern.row_pieces());
    for (Side const side : run.sides()) {
        touch_shared_memory(run, side);
        auto const grown = growth(run, side, pattern, buffer);
        auto const* const who = side == Side::sluice ? "Sluice" : "peer";
        run.report->row({name, who, text_of("%.0f", pieces), text_of("%.1f", grown.kept / pieces),
                         text_of("%.1f", grown.peak / pieces),
                         text_of_bytes(std::uint64_t(std::max(0.0, grown.peak)))});
        Json result;
        result.add("pattern", name).add("side", who).add("unit", "bytes/piece");
        result.add("pieces", pieces).add("kept", grown.kept / pieces);
        result.add("peak", grown.peak / pieces).add("peak_bytes", grown.peak);
        run.report->record("memory", result);
    }
    remove_files(run);
}

}  // namespace

void mode_memory(Run& run) {
    auto const names = patterns_of(run);
    run.report->table("memory: growth of a process for each piece of its view, bytes",
                      {"pattern     ", "  side", "    pieces", "view set", "   peak", "     peak"});
    for (auto const& name : names) measure(run, name);
}

}  // namespace sluice::bench
