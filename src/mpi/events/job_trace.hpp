// The trace of a job: it begins when MPI is initialised and ends when MPI is finalized.
#pragma once
#include "events/tracer.hpp"

#include <memory>
#include <mpi.h>
#include <string>

namespace sluice {

/// Where a trace is wanted of this rank it begins. `world` is null in a session, and where ranks
/// without this library are in it: then nobody merges the parts at the end. Collective over it.
void begin_trace(MPI_Comm world, int rank);
/// Writes what is left. Rank 0 then merges the parts of all ranks and says where the trace is.
/// Collective over the world that it began with. Nothing is recorded afterwards.
void end_trace();

/// What begins meanwhile is not recorded. Any time, also where there is no trace.
void pause_trace(bool paused) noexcept;

/// What is recorded of a file that was opened: `number` tells this opening from others on all
/// ranks. Null: there is no trace.
[[nodiscard]] std::unique_ptr<FileTrace> trace_of_file(std::string const& name,
                                                       std::uint64_t number, MPI_Comm communicator);

}  // namespace sluice
