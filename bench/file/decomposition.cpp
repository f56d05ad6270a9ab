// The decomposition behind the pattern e3sm: read by one rank, decoded by all.
#include <optional>

#include "bench/file/shapes.hpp"
#include "bench/measure/decomposition_file.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

struct Captured {
    patterns::Decomposition decomposition;
    std::string error;
};

void broadcast(void* data, std::size_t bytes) {
    check(MPI_Bcast(data, int(bytes), MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
}

void broadcast(std::string& text) {
    std::uint64_t size = text.size();
    broadcast(&size, sizeof size);
    text.resize(size);
    broadcast(text.data(), size);
}

/// Collective.
Captured read_together(Run const& run) {
    DecompositionFile file;
    if (run.rank == 0) file = read_decomposition(run.options.decomposition);
    broadcast(file.text);
    broadcast(file.error);
    return {file.text, file.error};
}

}  // namespace

/// Read once: patterns are made again and again.
patterns::Decomposition const& decomposition_of(Run const& run, std::string& error) {
    static std::optional<Captured> kept;
    if (!kept) kept = read_together(run);
    error = kept->error;
    return kept->decomposition;
}

}  // namespace sluice::bench
