// Writes a file as told on the command line and notes what has returned, so that whoever ends one
// of its ranks can say afterwards which bytes must be there. It knows nothing of Sluice.
//
//   durability_program FILE NOTES STEP...
//
// Steps, in order, numbered from 0, collective:
//   write:REGION  split:REGION  iwrite:REGION  read:REGION  wait  sync  close
//   hint:NAME=VALUE (not numbered; first of all)
// REGION is begin,bytes,pieces,gap[,turn]: each piece of each rank has so many bytes; the pieces of
// all ranks lie side by side, then there is a gap that nobody writes. A rank takes the place of the
// one that is `turn` behind it, so that several steps of different turns write the same bytes by
// different ranks. What is written in step s by rank r into its piece p is the byte value(s, r, p).
// A line "RANK begin STEP" is appended to the
// notes before, a line "RANK done STEP" after each step.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

struct Region {
    long long begin = 0;
    int bytes = 0, pieces = 0, gap = 0, turn = 0;
};

unsigned char value(int step, int rank, int piece) {
    return static_cast<unsigned char>(1 + (step * 67 + rank * 29 + piece * 7) % 250);
}

[[noreturn]] void fail(std::string const& what) {
    std::fprintf(stderr, "durability_program: %s\n", what.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void check(int code, char const* what) {
    if (code != MPI_SUCCESS) fail(std::string(what) + " failed");
}

class Program {
public:
    Program(char const* file, char const* notes) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        MPI_Info_create(&hints_);
        notes_ = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (notes_ < 0) fail("cannot open the notes");
        name_ = file;
    }

    void run(std::string const& step) {
        auto const colon = step.find(':');
        std::string const action = step.substr(0, colon);
        std::string const rest = colon == std::string::npos ? "" : step.substr(colon + 1);
        if (action == "hint") return add_hint(rest);
        if (file_ == MPI_FILE_NULL) open_file();
        note("begin");
        if (action == "write" || action == "split" || action == "iwrite")
            write(region(rest), action);
        else if (action == "read")
            read(region(rest));
        else if (action == "wait")
            wait();
        else if (action == "sync")
            check(MPI_File_sync(file_), "MPI_File_sync");
        else if (action == "close")
            check(MPI_File_close(&file_), "MPI_File_close");
        else
            fail("no such step: " + step);
        note("done");
        ++step_;
    }

private:
    void add_hint(std::string const& text) {
        auto const equals = text.find('=');
        MPI_Info_set(hints_, text.substr(0, equals).c_str(), text.substr(equals + 1).c_str());
    }

    void open_file() {
        check(MPI_File_open(MPI_COMM_WORLD, name_.c_str(), MPI_MODE_RDWR, hints_, &file_),
              "MPI_File_open");
    }

    /// One system call a line: lines of different processes are never mixed.
    void note(char const* what) const {
        std::string const line =
            std::to_string(rank_) + " " + what + " " + std::to_string(step_) + "\n";
        if (::write(notes_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            fail("cannot write the notes");
    }

    static Region region(std::string const& text) {
        Region r;
        if (std::sscanf(text.c_str(), "%lld,%d,%d,%d,%d", &r.begin, &r.bytes, &r.pieces, &r.gap,
                        &r.turn) < 4)
            fail("no region: " + text);
        return r;
    }

    void set_view(Region const& r) {
        MPI_Datatype piece = MPI_DATATYPE_NULL, tile = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(r.bytes, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, MPI_Aint{r.bytes} * ranks_ + r.gap, &tile);
        MPI_Type_commit(&tile);
        int const place = (rank_ + r.turn) % ranks_;
        check(MPI_File_set_view(file_, r.begin + MPI_Offset{r.bytes} * place, MPI_BYTE, tile,
                                "native", MPI_INFO_NULL),
              "MPI_File_set_view");
        MPI_Type_free(&tile);
        MPI_Type_free(&piece);
    }

    void write(Region const& r, std::string const& form) {
        set_view(r);
        auto& data = buffers_.emplace_back();
        for (int p = 0; p < r.pieces; ++p)
            data.insert(data.end(), static_cast<std::size_t>(r.bytes), value(step_, rank_, p));
        int const count = r.bytes * r.pieces;
        if (form == "iwrite") {
            check(MPI_File_iwrite_at_all(file_, 0, data.data(), count, MPI_BYTE,
                                         &requests_.emplace_back()),
                  "MPI_File_iwrite_at_all");
        } else if (form == "split") {
            check(MPI_File_write_at_all_begin(file_, 0, data.data(), count, MPI_BYTE),
                  "MPI_File_write_at_all_begin");
            check(MPI_File_write_at_all_end(file_, data.data(), MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all_end");
        } else {
            check(MPI_File_write_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
        }
    }

    void read(Region const& r) {
        set_view(r);
        int const count = r.bytes * r.pieces;
        std::vector<unsigned char> data(static_cast<std::size_t>(count));
        check(MPI_File_read_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_read_at_all");
    }

    void wait() {
        check(
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
        requests_.clear();
    }

    int rank_ = 0, ranks_ = 0, step_ = 0, notes_ = -1;
    std::string name_;
    MPI_Info hints_ = MPI_INFO_NULL;
    MPI_File file_ = MPI_FILE_NULL;
    std::vector<MPI_Request> requests_;
    std::vector<std::vector<unsigned char>> buffers_;  ///< Kept: a request may still read them.
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 4) fail("usage: durability_program FILE NOTES STEP...");
    Program program(argv[1], argv[2]);
    for (int i = 3; i < argc; ++i) program.run(argv[i]);
    MPI_Finalize();
}
