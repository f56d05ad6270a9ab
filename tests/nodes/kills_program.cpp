// Writes, reads and exchanges memories in rounds without end, until one rank is killed or an error
// comes; kills.py starts it and judges.
//
//   kills_program DIRECTORY VICTIM PLACE:N:MICROSECONDS noticed|unnoticed LEVEL
//   kills_program --check DIRECTORY RANKS
//
// `noticed`: the launcher hears of the killed rank, as usual. The file is opened and closed again
// and again. `unnoticed`: what the launcher started is a process that only waits for the rank, so
// the other ranks are on their own; no call waits in the MPI once the rounds have begun.
#include <mpi.h>

#include "kills_moment.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <execinfo.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace kills {
namespace {

constexpr int rounds_most = 40, rounds_an_opening = 3, seconds_most = 20;
constexpr int block = 20'000, reduced = 3'000;

int rank = 0, ranks = 0;
Record* own = nullptr;

/// What calls say is taken at their word; the first error ends the rounds.
struct Failed {
    int code;
};
void require(int code) {
    if (code != MPI_SUCCESS) throw Failed{code};
}

/// The rank comes to a place at which it may be killed.
void come_to(char const* place) {
    std::strncpy(own->where, place, sizeof own->where - 1);
    moment.reach(place);
}

void compute() {
    come_to("computing");
    double volatile sum = 0;
    for (std::int64_t const until = now() + 1'000'000; now() < until;) sum = sum + 1;
}

using Bytes = std::vector<unsigned char>;

/// What this rank, or another one, writes in a round.
Bytes bytes_of(std::int64_t round, int writer) {
    Bytes bytes(static_cast<std::size_t>(region_of_rank()));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = value(round, writer, static_cast<std::int64_t>(i));
    return bytes;
}

void expect(bool is_right) { own->wrong += is_right ? 0 : 1; }

/// The file, as one rank sees it: the pieces of a writer in each region.
class View {
public:
    View(std::string const& name, int writer) {
        come_to("opening");
        require(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file));
        std::vector<int> lengths;
        std::vector<MPI_Aint> places;
        MPI_Aint at = 0;
        for (Part const& part : parts) {
            for (int piece = 0; piece < part.pieces; ++piece) {
                lengths.push_back(part.bytes);
                places.push_back(at + MPI_Aint(writer) * part.bytes);
                at += MPI_Aint(part.step(ranks));
            }
        }
        MPI_Datatype pieces = MPI_DATATYPE_NULL, region = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(int(lengths.size()), lengths.data(), places.data(), MPI_BYTE,
                                 &pieces);
        MPI_Type_create_resized(pieces, 0, MPI_Aint(region_extent(ranks)), &region);
        MPI_Type_commit(&region);
        require(MPI_File_set_view(file, 0, MPI_BYTE, region, "native", MPI_INFO_NULL));
        MPI_Type_free(&region);
        MPI_Type_free(&pieces);
    }
    void close() {
        come_to("closing");
        require(MPI_File_close(&file));
    }
    MPI_File file = MPI_FILE_NULL;
};

MPI_Offset place(std::int64_t round, int part) {
    return MPI_Offset(round * region_of_rank() + part_begin(part));
}

/// A blocking, two nonblocking and a split write; a write is counted when it begins, and when it
/// has said success.
void write_round(MPI_File file, std::int64_t round, Bytes& bytes) {
    auto const data = [&](int part) { return bytes.data() + part_begin(part); };
    auto const count = [](int part) { return int(parts[part].of_rank()); };
    come_to("writing");
    ++own->started;
    require(MPI_File_write_at_all(file, place(round, 0), data(0), count(0), MPI_BYTE,
                                  MPI_STATUS_IGNORE));
    ++own->done;
    MPI_Request requests[2];
    for (int part : {1, 2}) {
        ++own->started;
        require(MPI_File_iwrite_at_all(file, place(round, part), data(part), count(part), MPI_BYTE,
                                       &requests[part - 1]));
    }
    compute();
    come_to("waiting");
    MPI_Status statuses[2];
    int const code = MPI_Waitall(2, requests, statuses);
    if (code == MPI_ERR_IN_STATUS)
        for (MPI_Status const& status : statuses) require(status.MPI_ERROR);
    require(code);
    own->done += 2;
    ++own->started;
    require(MPI_File_write_at_all_begin(file, place(round, 3), data(3), count(3), MPI_BYTE));
    come_to("splitting");
    require(MPI_File_write_at_all_end(file, data(3), MPI_STATUS_IGNORE));
    ++own->done;
}

/// The pieces of the next rank, which has written them: the collectives in between say so.
void read_round(MPI_File file, std::int64_t round) {
    come_to("reading");
    Bytes const meant = bytes_of(round, (rank + 1) % ranks);
    Bytes found(meant.size());
    auto const half = std::size_t(part_begin(2));
    MPI_Request request = MPI_REQUEST_NULL;
    require(
        MPI_File_iread_at_all(file, place(round, 0), found.data(), int(half), MPI_BYTE, &request));
    require(MPI_File_read_at_all(file, place(round, 2), found.data() + half,
                                 int(found.size() - half), MPI_BYTE, MPI_STATUS_IGNORE));
    require(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect(found == meant);
}

/// Of each rank one block for each other, of all ranks a maximum.
void exchange_round(std::int64_t round) {
    come_to("exchanging");
    auto const size = std::size_t(ranks) * block;
    Bytes out(size), in(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = value(round, rank, std::int64_t(i));
    std::vector<int> mine(reduced, rank + int(round)), most(reduced);
    MPI_Request requests[2];
    require(MPI_Ialltoall(out.data(), block, MPI_BYTE, in.data(), block, MPI_BYTE, MPI_COMM_WORLD,
                          &requests[0]));
    require(MPI_Iallreduce(mine.data(), most.data(), reduced, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                           &requests[1]));
    for (MPI_Request& request : requests) require(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (std::size_t i = 0; i < size; ++i)
        expect(in[i] ==
               value(round, int(i) / block, std::int64_t(rank) * block + std::int64_t(i) % block));
    for (int found : most) expect(found == ranks - 1 + int(round));
}

void one_round(View& writes, View& reads, std::int64_t round) {
    Bytes bytes = bytes_of(round, rank);
    write_round(writes.file, round, bytes);
    exchange_round(round);
    read_round(reads.file, round);
    ++own->rounds;
}

struct Options {
    std::string folder, moment;
    int victim = 0, level = 0;
    bool is_noticed = true;
};

void run_rounds(Options const& options) {
    std::string const name = options.folder + "/file";
    std::int64_t round = 0;
    auto const begin = [&] {
        if (rank == options.victim) moment.begin(options.moment.c_str(), own);
        own->state = running;
        come_to("beginning");
    };
    if (options.is_noticed) begin();
    while (true) {
        View writes(name, rank), reads(name, (rank + 1) % ranks);
        // Connections and what is made at a first call are there before the rounds begin.
        if (!options.is_noticed) {
            one_round(writes, reads, round++);
            begin();
        }
        for (int left = rounds_an_opening; left > 0 || !options.is_noticed; --left) {
            if (round >= rounds_most && rank == options.victim) moment.end();
            one_round(writes, reads, round++);
        }
        writes.close();
        reads.close();
    }
}

/// Notes in whose code it was: MPIs crash when a process to which they are connected ends.
void note_place(void* const* calls, int count) {
    for (int i = 0; i < count; ++i) {
        Dl_info found{};
        if (dladdr(calls[i], &found) == 0 || !found.dli_fname) continue;
        char const* const slash = std::strrchr(found.dli_fname, '/');
        char const* const name = slash ? slash + 1 : found.dli_fname;
        bool const is_handler = std::strncmp(name, "kills_program", 13) == 0;
        if (is_handler || std::strncmp(name, "libc.", 5) == 0) continue;
        std::strncpy(own->where, name, sizeof own->where - 1);
        return;
    }
}

void note_crash(int signal) {
    void* calls[64];
    int const count = backtrace(calls, 64);
    backtrace_symbols_fd(calls, count, STDERR_FILENO);
    note_place(calls, count);
    own->signal = signal;
    own->state = crashed;
    std::signal(signal, SIG_DFL);
    raise(signal);
}

/// The MPIs ignore SIGPIPE, or do not: then it is a crash, too.
void note_crashes() {
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, note_crash);
    struct sigaction now_set{};
    sigaction(SIGPIPE, nullptr, &now_set);
    if (now_set.sa_handler == SIG_DFL) std::signal(SIGPIPE, note_crash);
}

/// The first process that the launcher sees end is the end of all.
void wait_for_others(Options const& options) {
    std::vector<Record const*> others;
    while (Record const* other = map_record(options.folder, int(others.size()), false))
        others.push_back(other);
    for (std::int64_t const until = now() + std::int64_t(seconds_most) * 1'000'000'000;
         now() < until; usleep(20'000)) {
        bool all = true;
        for (Record const* other : others) all &= other->state != running || other->killed_at != 0;
        if (all) return;
    }
}

/// The launcher's child outlives the rank, which is its child.
void become_child(Options const& options) {
    pid_t const parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    own->exit_status = status;
    wait_for_others(options);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

/// As the launcher tells it, before MPI_Init.
int rank_of_launcher() {
    for (char const* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        if (char const* const text = std::getenv(name)) return std::atoi(text);
    }
    std::fprintf(stderr, "kills_program: the launcher does not tell the rank\n");
    std::exit(2);
}

int run(Options const& options) {
    own = map_record(options.folder, rank_of_launcher(), true);
    if (!own) return 2;
    own->state = starting;
    if (!options.is_noticed) become_child(options);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, options.level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_crashes();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    try {
        run_rounds(options);
    } catch (Failed const& failure) {
        own->failed_at = now();
        MPI_Error_class(failure.code, &own->error_class);
        own->state = failed;
    }
    // As programs do: it says what happened, and ends. MPI_Finalize would wait for the lost rank.
    sleep(options.is_noticed ? seconds_most : 2);
    _exit(3);
}

int check(std::string const& folder, int count) {
    std::vector<Record const*> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(map_record(folder, i, false));
        if (!all.back()) {
            std::printf("rank %d left no record\n", i);
            return 1;
        }
    }
    std::ifstream file(folder + "/file", std::ios::binary | std::ios::ate);
    Bytes bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return FileCheck(bytes, all).run() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kills

int main(int argc, char** argv) {
    if (argc == 4 && std::string(argv[1]) == "--check")
        return kills::check(argv[2], std::atoi(argv[3]));
    if (argc != 6) {
        std::fprintf(stderr, "usage: kills_program DIRECTORY VICTIM PLACE:N:MICROSECONDS "
                             "noticed|unnoticed LEVEL\n");
        return 2;
    }
    return kills::run({argv[1], argv[3], std::atoi(argv[2]), std::atoi(argv[5]),
                       std::string(argv[4]) == "noticed"});
}
