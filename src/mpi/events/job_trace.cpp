// How a trace begins and ends on all ranks. See job_trace.hpp.
#include "mpi/events/job_trace.hpp"

#include "mpi/events/clocks.hpp"
#include "mpi/events/recorder.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace sluice {
namespace {

/// A rank's part has room for so many rings of a thread.
constexpr std::uint32_t rings_in_file = 8;

struct Job {
    std::string file;  ///< Where the trace goes, wherever the program's working folder is later.
    MPI_Comm world = MPI_COMM_NULL;  ///< Of the trace's own; null: see begin_trace().
    NodeClocks clocks;
    std::uint64_t number = 0;
    int rank = 0, ranks = 1;
};

Job& job() {
    static auto* const only = new Job;
    return *only;
}

std::uint64_t number_of_new_job() {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// Before any rank writes its part: rank 0 takes away what an earlier job left.
void agree_on_job(MPI_Comm world) {
    Job& own = job();
    PMPI_Comm_dup(world, &own.world);
    PMPI_Comm_size(world, &own.ranks);
    if (own.rank == 0) {
        trace_kind.folder(own.file).remove_parts();
        own.number = number_of_new_job();
    }
    PMPI_Bcast(&own.number, 1, MPI_UINT64_T, 0, own.world);
    own.clocks = NodeClocks(own.world);
}

void start_recorder() {
    constexpr Bytes events_most = 1 << 26;
    auto const events = static_cast<std::uint32_t>(std::clamp<Bytes>(
        settings().trace.bytes / static_cast<Bytes>(sizeof(TraceEvent)), 16, events_most));
    TracePartFile part(std::uint64_t{rings_in_file} * events);
    if (std::string const why = part.file.open(job().file, job().rank); !why.empty())
        return warn("SLUICE_TRACE: no trace is written: " + why + ". The job goes on without");
    auto header = std::make_unique<TraceHeader>();
    header->rank = job().rank, header->ranks = job().ranks;
    header->job = job().number;
    // Its threads may outlive main().
    recorder_of_process = new Recorder(std::move(part), std::move(header), events, job().file);
    recorder_at_work = recorder_of_process.load();
}

std::vector<int> missing_ranks(std::vector<int> const& merged) {
    std::vector<int> missing;
    for (int rank = 0; rank < job().ranks; ++rank) {
        if (settings().trace.ranks.contains(rank) && !std::ranges::binary_search(merged, rank))
            missing.push_back(rank);
    }
    return missing;
}

void tell(MergedTrace const& merged) {
    std::string const& file = job().file;
    if (!merged.error.empty())
        return warn("SLUICE_TRACE: the parts of the trace could not be merged: " + merged.error +
                    ". They are in " + PartsFolder::path_of(file) + ": `sluice trace " + file +
                    "` merges them");
    std::string text = "the trace of " + std::to_string(merged.ranks.size()) + " rank" +
                       (merged.ranks.size() == 1 ? "" : "s") + " is in " + file +
                       ": open it with ui.perfetto.dev, or see `sluice trace " + file + "`";
    if (merged.lost > 0)
        text += "; " + std::to_string(merged.lost) +
                " events are lost (the oldest; SLUICE_TRACE=FILE,SIZE makes more room)";
    if (!merged.cut_off.empty()) text += "; cut off: " + ranks_in_words(merged.cut_off);
    if (auto const missing = missing_ranks(merged.ranks); !missing.empty())
        text += "; rank 0 found no part of " + ranks_in_words(missing);
    if (settings().log >= LogLevel::warnings) say(text);
}

}  // namespace

void begin_trace(MPI_Comm world, int rank) {
    if (settings().trace.file.empty() || recorder()) return;
    job().rank = rank;
    std::error_code unknown;
    job().file = std::filesystem::absolute(settings().trace.file, unknown);
    if (world != MPI_COMM_NULL) agree_on_job(world);
    if (settings().trace.ranks.contains(rank)) start_recorder();
    if (job().world == MPI_COMM_NULL) return;
    TraceClock const clock = job().clocks.measure();
    if (recorder()) recorder()->set_clock(false, clock);
}

void pause_trace(bool paused) noexcept {
    recorder_at_work = paused ? nullptr : recorder_of_all_times();
}

void end_trace() {
    Job& own = job();
    recorder_at_work = nullptr;
    Recorder* const recorder = recorder_of_process.exchange(nullptr);
    bool works = true;
    if (own.world != MPI_COMM_NULL) {
        TraceClock const clock = own.clocks.measure();
        if (recorder) recorder->set_clock(true, clock);
    }
    if (recorder) works = recorder->end();
    if (own.world == MPI_COMM_NULL) return;
    PMPI_Barrier(own.world);  // All parts are written.
    if (own.rank == 0 && works) {
        auto const merged = merge_trace(own.file, own.number);
        bool const told = !recorder && merged.ranks.empty() && settings().trace.ranks.contains(0);
        if (!told) tell(merged);  // That there is no trace was told when it could not begin.
    }
    own.clocks.free();
    PMPI_Comm_free(&own.world);
}

/// Where ranks cannot be translated, as in a communicator between worlds, they stay as they are.
std::unique_ptr<FileTrace> trace_of_file(std::string const& name, std::uint64_t number,
                                         MPI_Comm communicator) {
    Recorder* const own = recorder_of_all_times();
    if (!own) return nullptr;
    auto trace = std::make_unique<FileTrace>();
    trace->tracer = own;
    trace->file = own->name(name);
    trace->key = number;
    MPI_Comm const world = job().world == MPI_COMM_NULL ? communicator : job().world;
    trace->world = ranks_in(world, communicator);
    return trace;
}

}  // namespace sluice
