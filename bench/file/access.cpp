// One access of a pattern, row by row.
#include "bench/file/access.hpp"

namespace sluice::bench {
namespace {

/// Calls `call(memory of the row, row)` for each row.
template <typename Call>
void for_each_row(Pattern const& pattern, std::span<double> buffer, Call&& call) {
    for (int row = 0; row < pattern.rows(); ++row)
        call(buffer.data() + std::size_t(row) * pattern.memory_words(), row);
}

}  // namespace

void set_view(MPI_File file, MPI_Offset displacement, Pattern const& pattern, MPI_Info info) {
    check(MPI_File_set_view(file, displacement, MPI_DOUBLE, pattern.filetype, "native", info),
          "MPI_File_set_view");
}

void run_access(MPI_File file, Pattern const& pattern, std::span<double> buffer, bool writes) {
    int const count = pattern.memory_count();
    for_each_row(pattern, buffer, [&](double* memory, int) {
        check(writes ? MPI_File_write_all(file, memory, count, pattern.memory, MPI_STATUS_IGNORE)
                     : MPI_File_read_all(file, memory, count, pattern.memory, MPI_STATUS_IGNORE),
              writes ? "MPI_File_write_all" : "MPI_File_read_all");
    });
}

std::vector<MPI_Request> start_access(MPI_File file, Pattern const& pattern,
                                      std::span<double> buffer, bool writes) {
    std::vector<MPI_Request> requests(std::size_t(pattern.rows()), MPI_REQUEST_NULL);
    int const count = pattern.memory_count();
    for_each_row(pattern, buffer, [&](double* memory, int row) {
        // Explicit offsets, because MPICH 5.0.2 sets the file pointer back in MPI_Wait.
        auto const offset = MPI_Offset{row} * pattern.words();
        auto* const request = &requests[std::size_t(row)];
        check(writes ? MPI_File_iwrite_at_all(file, offset, memory, count, pattern.memory, request)
                     : MPI_File_iread_at_all(file, offset, memory, count, pattern.memory, request),
              "starting an operation");
    });
    return requests;
}

void wait_for(std::vector<MPI_Request>& requests) {
    // One by one, in one order on all ranks: MPICH 5.0.2 needs that to move several on.
    for (auto& request : requests) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void run_independent(MPI_File file, Pattern const& pattern, std::span<double> buffer, bool writes,
                     bool blocking) {
    int const count = pattern.memory_count();
    for_each_row(pattern, buffer, [&](double* memory, int row) {
        auto const offset = MPI_Offset{row} * pattern.words();
        if (blocking) {
            check(writes ? MPI_File_write_at(file, offset, memory, count, pattern.memory,
                                             MPI_STATUS_IGNORE)
                         : MPI_File_read_at(file, offset, memory, count, pattern.memory,
                                            MPI_STATUS_IGNORE),
                  "an independent call");
            return;
        }
        MPI_Request request = MPI_REQUEST_NULL;
        check(writes ? MPI_File_iwrite_at(file, offset, memory, count, pattern.memory, &request)
                     : MPI_File_iread_at(file, offset, memory, count, pattern.memory, &request),
              "starting an independent operation");
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    });
}

}  // namespace sluice::bench
