// What `sluice check` runs: ranks write blocks of one file in turn, by blocking collective calls.
//
//   sluice-check FILE NOTES STEPS [killed|waits]
//
// In each step each rank writes `pieces` blocks, between those of the other ranks. When the call
// has returned, the rank appends a line with the step to a file of its own, NOTES.RANK. Then all
// ranks are killed, or wait for it, or close the file. python/sluice/check.py expects just these
// bytes.
#include "tools/exit_codes.hpp"
#include "tools/launched.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace sluice::tools {
namespace {

constexpr int pieces = 16, block = 4096;
constexpr unsigned longest_seconds = 60;

class Writer {
public:
    Writer(char const* path, std::string notes) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        notes += "." + std::to_string(rank_);
        notes_ = open(notes.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        end_if_apart(ranks_);
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_);
        if (file_ == MPI_FILE_NULL || notes_ < 0) {
            std::fprintf(stderr, "sluice check: %s or %s cannot be opened\n", path, notes.c_str());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_File_set_errhandler(file_, MPI_ERRORS_ARE_FATAL);
        MPI_Datatype blocks = MPI_DATATYPE_NULL;
        MPI_Type_vector(pieces, block, block * ranks_, MPI_BYTE, &blocks);
        MPI_Type_create_resized(blocks, 0, MPI_Aint(pieces) * block * ranks_, &of_rank_);
        MPI_Type_commit(&of_rank_);
        MPI_Type_free(&blocks);
        MPI_File_set_view(file_, MPI_Offset(rank_) * block, MPI_BYTE, of_rank_, "native",
                          MPI_INFO_NULL);
    }

    void step(int number) {
        std::vector<unsigned char> bytes(std::size_t(pieces) * block);
        for (int piece = 0; piece < pieces; ++piece)
            std::memset(bytes.data() + std::size_t(piece) * block,
                        1 + (number * 31 + rank_ * 7 + piece) % 250, block);
        MPI_File_write_at_all(file_, MPI_Offset(number) * pieces * block, bytes.data(),
                              pieces * block, MPI_BYTE, MPI_STATUS_IGNORE);
        char line[64];
        int const length = std::snprintf(line, sizeof line, "%d\n", number);
        if (write(notes_, line, std::size_t(length)) != length) MPI_Abort(MPI_COMM_WORLD, 1);
    }

    void end() {
        MPI_File_close(&file_);
        MPI_Type_free(&of_rank_);
        if (rank_ == 0) std::printf("%d ranks have written\n", ranks_);
    }

private:
    int notes_ = -1, rank_ = 0, ranks_ = 1;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Datatype of_rank_ = MPI_DATATYPE_NULL;
};

}  // namespace
}  // namespace sluice::tools

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool const understood = argc == 4 || argc == 5;
    char const* const then = argc == 5 ? argv[4] : "";
    if (understood) {
        sluice::tools::Writer writer(argv[1], argv[2]);
        long const steps = std::strtol(argv[3], nullptr, 10);
        for (int number = 0; number < steps; ++number) writer.step(number);
        if (std::strcmp(then, "killed") == 0) std::raise(SIGKILL);
        alarm(sluice::tools::longest_seconds);  // Whoever waits for this may have ended.
        if (std::strcmp(then, "waits") == 0)
            for (;;) pause();
        alarm(0);
        writer.end();
    }
    MPI_Finalize();
    return understood ? 0 : sluice::bad_usage;
}
