// Writes a file as told on the command line and notes what has returned, so that whoever ends one
// of its ranks, or lets its calls fail, can say afterwards which bytes must be there. It knows
// nothing of Sluice.
//
//   durability_program FILE NOTES STEP...
//
// Steps, in order, numbered from 0, collective:
//   write:REGION  split:REGION  iwrite:REGION  read:REGION  wait  sync  close
//   alone:REGION (independent)  read:REGION=STEP (as that step wrote it, or -1: the start)
//   room:BYTES and size:BYTES (of the file)  pause  other (another file, where all is well)
//   hint:NAME=VALUE and errors (not numbered; first of all)
// REGION is begin,bytes,pieces,gap[,turn]: each piece of each rank has so many bytes; the pieces of
// all ranks lie side by side, then there is a gap that nobody writes. A rank takes the place of the
// one that is `turn` behind it, so that several steps of different turns write the same bytes by
// different ranks. What is written in step s by rank r into its piece p is the byte value(s, r, p).
// A line "RANK begin STEP" is appended to the notes before, "RANK done STEP" after each step. An
// error ends the program; with `errors` it is noted, as "RANK handler STEP CLASS" by the error
// handler of the file and as "RANK error STEP CLASS" when the call returns it; "RANK wrong STEP"
// are bytes that were read.
#include <mpi.h>

#include <algorithm>
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

constexpr unsigned char fill = 255;  ///< What the file holds at the start.

unsigned char value(int step, int rank, int piece) {
    if (step < 0) return fill;
    return static_cast<unsigned char>(1 + (step * 67 + rank * 29 + piece * 7) % 250);
}

[[noreturn]] void fail(std::string const& what) {
    std::fprintf(stderr, "durability_program: %s\n", what.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void check_well(int code, char const* what) {
    if (code != MPI_SUCCESS) fail(std::string(what) + " failed");
}

std::string class_of(int code) {
    int error = MPI_SUCCESS;
    MPI_Error_class(code, &error);
    return error == MPI_ERR_IO         ? "io"
           : error == MPI_ERR_NO_SPACE ? "no_space"
                                       : "class_" + std::to_string(error);
}

class Program {
public:
    static inline Program* running = nullptr;  ///< Whose errors are noted; null: they end it.

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
        if (action == "errors") {
            running = this;
            return;
        }
        if (file_ == MPI_FILE_NULL && action != "other") open_file();
        note("begin");
        run(action, rest);
        note("done");
        ++step_;
    }

private:
    void run(std::string const& action, std::string const& rest) {
        if (action == "write" || action == "split" || action == "iwrite" || action == "alone")
            write(region(rest), action);
        else if (action == "read")
            read(rest);
        else if (action == "wait")
            wait();
        else if (action == "sync")
            check(MPI_File_sync(file_), "MPI_File_sync");
        else if (action == "close")
            check(MPI_File_close(&file_), "MPI_File_close");
        else if (action == "room")
            check(MPI_File_preallocate(file_, std::atoll(rest.c_str())), "MPI_File_preallocate");
        else if (action == "size")
            check(MPI_File_set_size(file_, std::atoll(rest.c_str())), "MPI_File_set_size");
        else if (action == "pause")
            pause();
        else if (action == "ask")
            ask();
        else if (action == "other")
            use_other_file();
        else
            fail("no such step: " + action);
    }

    void check(int code, char const* what) const {
        if (code == MPI_SUCCESS) return;
        if (!running) fail(std::string(what) + " failed");
        note("error", " " + class_of(code));
    }

    static void note_handled(MPI_File*, int* code, ...) {
        running->note("handler", " " + class_of(*code));
    }

    /// Long enough for what is under way; what is logged meanwhile stands above its line.
    void pause() const {
        usleep(400'000);
        std::fprintf(stderr, "rank %d has paused in step %d\n", rank_, step_);
    }

    void add_hint(std::string const& text) {
        auto const equals = text.find('=');
        MPI_Info_set(hints_, text.substr(0, equals).c_str(), text.substr(equals + 1).c_str());
    }

    void open_file() {
        check_well(MPI_File_open(MPI_COMM_WORLD, name_.c_str(), MPI_MODE_RDWR, hints_, &file_),
                   "MPI_File_open");
        if (!running) return;
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_File_create_errhandler(note_handled, &handler);
        MPI_File_set_errhandler(file_, handler);
        MPI_Errhandler_free(&handler);
    }

    /// What failed in one file is nothing to another.
    void use_other_file() const {
        std::string const name = name_ + ".other";
        constexpr int bytes = 10000;
        MPI_File other = MPI_FILE_NULL;
        MPI_Offset const at = MPI_Offset{bytes} * rank_;
        std::vector<unsigned char> data(bytes, value(step_, rank_, 0)), found(bytes);
        check_well(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                                 MPI_INFO_NULL, &other),
                   "MPI_File_open");
        check_well(
            MPI_File_write_at_all(other, at, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at_all");
        check_well(MPI_File_sync(other), "MPI_File_sync");
        check_well(
            MPI_File_read_at_all(other, at, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_read_at_all");
        if (found != data) fail("the other file holds other bytes");
        check_well(MPI_File_close(&other), "MPI_File_close");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) unlink(name.c_str());
    }

    /// One system call a line: lines of different processes are never mixed.
    void note(char const* what, std::string const& more = "") const {
        std::string const line =
            std::to_string(rank_) + " " + what + " " + std::to_string(step_) + more + "\n";
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
        } else if (form == "alone") {
            check(MPI_File_write_at(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at");
        } else {
            check(MPI_File_write_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
        }
    }

    /// Rank 0 makes an independent call, which can tell it of an error, and the others make none.
    void ask() {
        if (rank_ != 0) return;
        check(MPI_File_read_at(file_, 0, nullptr, 0, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_read_at");
    }

    void read(std::string const& text) {
        Region const r = region(text);
        set_view(r);
        int const count = r.bytes * r.pieces;
        std::vector<unsigned char> data(static_cast<std::size_t>(count));
        check(MPI_File_read_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_read_at_all");
        auto const equals = text.find('=');
        if (equals == std::string::npos) return;
        int const step = std::atoi(text.c_str() + equals + 1);
        for (int p = 0; p < r.pieces; ++p) {
            auto const* const piece = data.data() + std::ptrdiff_t{p} * r.bytes;
            auto const is_right = [&](unsigned char c) { return c == value(step, rank_, p); };
            if (!std::all_of(piece, piece + r.bytes, is_right)) return note("wrong");
        }
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
