// What `sluice try` runs without Sluice and with it: a program as simulations are. It computes, and
// writes its share of an array by MPI_File_iwrite_at_all; while it computes it calls no MPI. Rank 0
// prints the seconds in calls and in all, of the slowest rank, as JSON.
#include "tools/exit_codes.hpp"
#include "tools/launched.hpp"

#include <chrono>
#include <cstdio>
#include <mpi.h>
#include <vector>

namespace sluice::tools {
namespace {

constexpr int steps = 8, rows = 1024, columns = 1024;  // 8 MiB a step.
constexpr double computing_seconds = 0.35;             // Of a step.

double now() {
    std::chrono::duration<double> const since = std::chrono::steady_clock::now().time_since_epoch();
    return since.count();
}

/// Heat that spreads along the rows.
void compute(std::vector<double>& field) {
    for (double const end = now() + computing_seconds; now() < end;) {
        for (std::size_t i = 1; i + 1 < field.size(); ++i)
            field[i] = 0.5 * field[i] + 0.25 * (field[i - 1] + field[i + 1]);
    }
}

class Program {
public:
    explicit Program(char const* path) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        end_if_apart(ranks_);
        int const mine = columns / ranks_;
        output_.resize(std::size_t(rows) * std::size_t(mine));
        field_.assign(output_.size(), 1);
        MPI_Datatype within_rows = MPI_DATATYPE_NULL;
        MPI_Type_vector(rows, mine, columns, MPI_DOUBLE, &within_rows);
        // The next step's array begins behind the whole of this one.
        constexpr MPI_Aint array_bytes = MPI_Aint(sizeof(double)) * rows * columns;
        MPI_Type_create_resized(within_rows, 0, array_bytes, &columns_of_rank_);
        MPI_Type_commit(&columns_of_rank_);
        MPI_Type_free(&within_rows);
        in_calls([&] {
            MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                          &file_);
            MPI_File_set_errhandler(file_, MPI_ERRORS_ARE_FATAL);
            MPI_Offset const first = MPI_Offset(rank_) * mine * MPI_Offset(sizeof(double));
            MPI_File_set_view(file_, first, MPI_DOUBLE, columns_of_rank_, "native", MPI_INFO_NULL);
        });
    }

    void step(int number) {
        in_calls([&] { MPI_Wait(&request_, MPI_STATUS_IGNORE); });
        // What is written says who wrote it, and when: the runs are compared byte by byte.
        for (std::size_t i = 0; i < output_.size(); ++i)
            output_[i] = number + rank_ + double(i) / double(output_.size());
        int const count = int(output_.size());
        in_calls([&] {
            MPI_File_iwrite_at_all(file_, MPI_Offset(number) * count, output_.data(), count,
                                   MPI_DOUBLE, &request_);
        });
        compute(field_);
    }

    void end() {
        in_calls([&] {
            MPI_Wait(&request_, MPI_STATUS_IGNORE);
            MPI_File_close(&file_);
        });
        MPI_Type_free(&columns_of_rank_);
        double const mine[] = {blocked_, now() - began_};
        double slowest[2];
        MPI_Reduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank_ == 0)
            std::printf("{\"blocked\": %.3f, \"seconds\": %.3f}\n", slowest[0], slowest[1]);
    }

private:
    template <class Calls> void in_calls(Calls calls) {
        double const begin = now();
        calls();
        blocked_ += now() - begin;
    }

    int rank_ = 0, ranks_ = 1;
    std::vector<double> field_, output_;
    MPI_Datatype columns_of_rank_ = MPI_DATATYPE_NULL;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    double const began_ = now();
    double blocked_ = 0;
};

}  // namespace
}  // namespace sluice::tools

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc == 2) {
        sluice::tools::Program program(argv[1]);
        for (int number = 0; number < sluice::tools::steps; ++number) program.step(number);
        program.end();
    }
    MPI_Finalize();
    return argc == 2 ? 0 : sluice::bad_usage;
}
