// Files that are closed with the hint sluice_close=behind: MPI_File_close returns before delayed
// writes are in the file, and whoever comes to the file by MPI sees them. Passes without
// write-behind, but for `close_returns_early`, which wants a slow device.
#include "behind_form.hpp"

#include <csignal>
#include <cstring>
#include <sys/resource.h>

namespace {

using namespace access_form;
using namespace behind_form;

constexpr int writes = 12;
constexpr int create = MPI_MODE_RDWR | MPI_MODE_CREATE;

MPI_File open_with(char const* hint, char const* value, std::string const& name,
                   MPI_Comm communicator) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, hint, value);
    MPI_File file = open(name, create, communicator, info);
    MPI_Info_free(&info);
    return file;
}

MPI_File open_behind(std::string const& name, MPI_Comm communicator = MPI_COMM_WORLD) {
    return open_with("sluice_close", "behind", name, communicator);
}

void remove_file(std::string const& name) {
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

/// Each rank's part of each write lies behind that of the rank before it.
MPI_Offset place_of(int rank, int write) {
    return MPI_Offset{bytes} * (MPI_Offset{write} * check::size() + rank);
}

/// `writes` collective writes, and the bytes that they bring. `kind` tells one file from others.
void write_parts(MPI_File file, int kind) {
    for (int i = 0; i < writes; ++i)
        write_all(file, place_of(check::rank(), i), model::data_of(kind, check::rank(), i, bytes));
}

/// The same by independent writes.
void write_parts_alone(MPI_File file, int kind) {
    for (int i = 0; i < writes; ++i) {
        auto const data = model::data_of(kind, check::rank(), i, bytes);
        check::ok(MPI_File_write_at(file, place_of(check::rank(), i), data.data(), bytes, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
    }
}

/// Each rank reads what another one wrote.
void read_parts(MPI_File file, int kind, int rank) {
    for (int i = writes - 1; i >= 0; --i)
        read_by(file, place_of(rank, i), model::data_of(kind, rank, i, bytes), "after the close");
}

bool is_on_slow_device() {
    char const* const test = std::getenv("SLUICE_TEST");
    return test && std::strstr(test, "device=");
}

/// On a device that takes a while bytes are still to come when the close returns. Then MPI tells
/// the length that the file will have, and reads it whole.
void close_returns_early() {
    constexpr int many = 200;
    auto const name = check::fresh_file("closed.bin", 0);
    MPI_Offset const end = MPI_Offset{piece} * many * check::size();
    auto const place = [](int rank, int i) {
        return MPI_Offset{piece} * (MPI_Offset{i} * check::size() + rank);
    };
    int const other = (check::rank() + 1) % check::size();
    MPI_File file = open_behind(name);
    for (int i = 0; i < many; ++i) {
        auto const data = model::data_of(2, check::rank(), i, piece);
        check::ok(MPI_File_write_at(file, place(check::rank(), i), data.data(), piece, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
    }
    close(file);
    bool const is_early = check::posix_size(name) < end;
    if (is_delayed() && is_on_slow_device())
        check::is_true(is_early, "bytes are still to come when the close returns");
    barrier();
    MPI_File again = open(name, MPI_MODE_RDWR);
    MPI_Offset size = 0;
    check::ok(MPI_File_get_size(again, &size));
    check::is_equal(end, size, "bytes of the file");
    check::ok(MPI_File_set_size(again, size));
    for (int i = many - 1; i >= 0; --i)
        read_by(again, place(other, i), model::data_of(2, other, i, piece), "after the close");
    close(again);
    remove_file(name);
}

/// A file for each step, as simulations write them, and more of them than may be under way.
void a_file_for_each_step() {
    constexpr int steps = 40;
    auto const first = check::fresh_file("closed.bin", 0);
    auto const name_of_step = [&](int step) { return first + "." + std::to_string(step); };
    for (int step = 0; step < steps; ++step) {
        MPI_File file = open_behind(name_of_step(step));
        write_parts(file, step);
        close(file);
    }
    for (int step = 0; step < steps; ++step) {
        MPI_File file = open(name_of_step(step), MPI_MODE_RDONLY);
        read_parts(file, step, (check::rank() + step) % check::size());
        close(file);
        remove_file(name_of_step(step));
    }
    remove_file(first);
}

/// Files that are closed while the next reads are made ahead, as at the end of each series.
void a_series_is_left() {
    auto const name = check::fresh_file("closed.bin", 0);
    MPI_File file = open(name);
    write_parts(file, 1);
    close(file);
    for (int round = 0; round < 40; ++round) {
        file = open(name, MPI_MODE_RDONLY);
        for (int i = 0; i < 3; ++i) {
            model::Bytes found(bytes);
            check::ok(MPI_File_read_at_all(file, place_of(check::rank(), i), found.data(), bytes,
                                           MPI_BYTE, MPI_STATUS_IGNORE));
            check::same_bytes(model::data_of(1, check::rank(), i, bytes), found, "a series");
        }
        close(file);
    }
    remove_file(name);
}

/// A read across the end of a file is no write that lengthens it, also while it goes on behind a
/// call that has its own bytes.
void a_read_tells_no_length() {
    auto const name = check::fresh_file("closed.bin", 0);
    MPI_File file = open(name);
    write_parts(file, 1);
    close(file);
    barrier();
    file = open(name, MPI_MODE_RDONLY);
    bool const is_last = check::rank() == check::size() - 1;
    model::Bytes found(bytes);
    for (int i = 0; i < writes; ++i) {
        MPI_Offset const at = is_last ? place_of(0, writes) - bytes / 2 : place_of(0, i);
        MPI_Offset size = 0;
        check::ok(MPI_File_read_at_all(file, at, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        check::ok(MPI_File_get_size(file, &size));
        check::is_equal(place_of(0, writes), size, "bytes of the file");
    }
    close(file);
    remove_file(name);
}

/// As libraries do, each file has a communicator of its own, which is freed at once.
void communicators_are_freed() {
    constexpr int steps = 12;
    auto const name = check::fresh_file("closed.bin", 0);
    for (int step = 0; step < steps; ++step) {
        MPI_Comm own = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &own);
        MPI_File file = open_behind(name, own);
        if (step > 0) read_parts(file, step - 1, (check::rank() + 1) % check::size());
        MPI_Barrier(own);
        write_parts(file, step);
        close(file);
        MPI_Comm_free(&own);
    }
    MPI_File file = open(name, MPI_MODE_RDONLY);
    read_parts(file, steps - 1, 0);
    close(file);
    remove_file(name);
}

/// Ranks that had no part in the closed file wait for it as well, and write behind it.
void others_come_to_it() {
    auto const name = check::fresh_file("closed.bin", 0);
    int const ranks = check::size(), other = (check::rank() + 1) % ranks;
    for (int step = 0; step < 4; ++step) {
        MPI_File file = open_behind(name, MPI_COMM_SELF);
        write_parts_alone(file, step);
        close(file);
        barrier();
        MPI_File theirs = open_behind(name, MPI_COMM_SELF);
        read_parts(theirs, step, other);
        close(theirs);
        barrier();
    }
    MPI_File file = open_behind(name, MPI_COMM_SELF);
    write_parts_alone(file, 5);
    close(file);
    barrier();
    MPI_File by_mpi = open_with("sluice", "disable", name, MPI_COMM_SELF);
    read_parts(by_mpi, 5, other);
    close(by_mpi);
    barrier();
    file = open_behind(name);
    write_parts(file, 7);
    close(file);
    // The end of the file is looked at by an open to append.
    MPI_File at_end = open(name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    check::is_equal(place_of(0, writes), position(at_end), "file pointer at the open");
    check::ok(MPI_File_set_size(at_end, place_of(0, 1)));
    close(at_end);
    barrier();
    check::is_equal(std::int64_t{place_of(0, 1)}, check::posix_size(name),
                    "bytes of the file, shortened");
    remove_file(name);
}

/// A request that the program waits for only after the close, which MPI forbids and MPIs bear.
void requests_are_waited_for() {
    auto const name = check::fresh_file("closed.bin", 0);
    MPI_File file = open_behind(name);
    auto data = model::data_of(3, check::rank(), 0, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_at_all(file, place_of(check::rank(), 0), data.data(), bytes, MPI_BYTE,
                                     &request));
    close(file);
    std::fill(data.begin(), data.end(), model::untouched);
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    model::File expected;
    for (int r = 0; r < check::size(); ++r)
        expected.write({{place_of(r, 0), bytes}}, model::data_of(3, r, 0, bytes));
    check::compare_and_remove(name, expected);
}

/// An error of a delayed write is told once: by a call on the file, or by the close of a later one.
void errors_are_told_later() {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto const name = check::fresh_file("closed.bin", 0);
    rlimit const limited{1 << 20, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
    int errors = 0;
    auto const count = [&](int code) { errors += code == MPI_SUCCESS ? 0 : 1; };
    auto const data = model::data_of(5, check::rank(), 0, bytes);
    MPI_File file = open_behind(name);
    count(MPI_File_write_at_all(file, (MPI_Offset{1} << 21) + place_of(check::rank(), 0),
                                data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    count(MPI_File_close(&file));
    MPI_File again = open_behind(name);
    model::Bytes found(bytes);  // The read waits for the write.
    count(MPI_File_read_at(again, (MPI_Offset{1} << 21) + place_of(check::rank(), 0), found.data(),
                           bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    setrlimit(RLIMIT_FSIZE, &before);
    count(MPI_File_close(&again));
    check::is_equal(1, errors, "errors that this rank was told of");
    remove_file(name);
}

std::vector<check::Test> make_tests() {
    return {{"close_returns_early", close_returns_early},
            {"a_file_for_each_step", a_file_for_each_step},
            {"a_series_is_left", a_series_is_left},
            {"a_read_tells_no_length", a_read_tells_no_length},
            {"communicators_are_freed", communicators_are_freed},
            {"others_come_to_it", others_come_to_it},
            {"requests_are_waited_for", requests_are_waited_for},
            {"errors_are_told_later", errors_are_told_later}};
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "closed_test", make_tests); }
