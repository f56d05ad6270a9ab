// What a program sees of blocking writes that return before their bytes are in the file, and of
// reads that are made before they are asked for. Runs with SLUICE_WRITE_BEHIND, SLUICE_READ_AHEAD
// and SLUICE_TEST=behind=always, and passes without them, but for `returns_before_the_others`.
#include "access.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>

namespace {

using namespace access_form;

constexpr int tag = 11, piece = 64, pieces = 500, bytes = piece * pieces;

bool is_delayed() {
    char const* const memory = std::getenv("SLUICE_WRITE_BEHIND");
    return memory && std::string_view(memory) != "0";
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

/// Piece `place` of each row of `width` pieces.
void set_pieces(MPI_File file, int place, int width) {
    MPI_Datatype view = MPI_DATATYPE_NULL, one = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(piece, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, MPI_Aint{piece} * width, &view);
    MPI_Type_commit(&view);
    check::ok(MPI_File_set_view(file, MPI_Offset{piece} * place, MPI_BYTE, view, "native",
                                MPI_INFO_NULL));
    MPI_Type_free(&view);
    MPI_Type_free(&one);
}

void expect_pieces(model::File& expected, int place, int width, model::Bytes const& data) {
    for (int i = 0; i < static_cast<int>(data.size()) / piece; ++i) {
        auto const first = data.begin() + std::ptrdiff_t{i} * piece;
        expected.write({{std::int64_t{piece} * (std::int64_t{i} * width + place), piece}},
                       model::Bytes(first, first + piece));
    }
}

void write_all(MPI_File file, MPI_Offset at, model::Bytes const& data) {
    check::ok(MPI_File_write_at_all(file, at, data.data(), static_cast<int>(data.size()), MPI_BYTE,
                                    MPI_STATUS_IGNORE));
}

/// No other rank has made the call when it returns. The memory may be used again at once.
void returns_before_the_others() {
    if (!is_delayed()) return;
    constexpr int few = piece * 20;  // They fit into any rank's share of the memory.
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    set_pieces(file, check::rank(), check::size());
    if (check::rank() != 0)
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto data = model::data_of(5, check::rank(), 0, few);
    write_all(file, 0, data);
    std::fill(data.begin(), data.end(), model::untouched);
    if (check::rank() == 0) {
        for (int r = 1; r < check::size(); ++r)
            MPI_Send(nullptr, 0, MPI_BYTE, r, tag, MPI_COMM_WORLD);
    }
    close(file);
    model::File expected;
    for (int r = 0; r < check::size(); ++r)
        expect_pieces(expected, r, check::size(), model::data_of(5, r, 0, few));
    check::compare_and_remove(name, expected);
}

/// As PnetCDF does: fill values first, then the data, by other ranks and in other pieces.
void later_writes_win() {
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    int const ranks = check::size();
    model::File expected;
    for (int step = 0; step < 6; ++step) {
        auto const place = [&](int rank) { return (rank + step) % ranks; };
        set_pieces(file, place(check::rank()), ranks);
        write_all(file, 0, model::data_of(5, check::rank(), step, bytes));
        for (int r = 0; r < ranks; ++r)
            expect_pieces(expected, place(r), ranks, model::data_of(5, r, step, bytes));
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// Each rank's bytes are read by its neighbour, in `rounds` ways that MPI has for it.
void read_by(MPI_File file, MPI_Offset at, model::Bytes const& expected, std::string_view how) {
    model::Bytes found(expected.size());
    MPI_Status status{};
    check::ok(MPI_File_read_at(file, at, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                               &status));
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check::is_equal(static_cast<int>(expected.size()), count, how);
    check::same_bytes(expected, found, how);
}

/// A barrier between writer and reader is enough, by whichever handle.
void others_see_it(bool collective) {
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    MPI_File again = open(name), alone = open(name, MPI_MODE_RDWR, MPI_COMM_SELF);
    int const ranks = check::size(), other = (check::rank() + 1) % ranks;
    for (int step = 0; step < 4; ++step) {
        auto const data = model::data_of(5, check::rank(), step, bytes);
        auto const at = MPI_Offset{bytes} * check::rank();
        if (collective)
            write_all(file, at, data);
        else
            check::ok(MPI_File_write_at(file, at, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        barrier();
        auto const theirs = model::data_of(5, other, step, bytes);
        auto const there = MPI_Offset{bytes} * other;
        read_by(file, there, theirs, "by the same handle");
        read_by(again, there, theirs, "by another handle");
        read_by(alone, there, theirs, "by a handle of one rank");
        barrier();
    }
    close(alone);
    close(again);
    close(file);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

/// A write of one rank's own handle, read by all with a collective call.
void a_rank_writes_alone() {
    auto const name = check::fresh_file("behind.bin", bytes);
    MPI_File file = open(name), alone = open(name, MPI_MODE_RDWR, MPI_COMM_SELF);
    for (int step = 0; step < 4; ++step) {
        int const writer = step % check::size();
        auto const data = model::data_of(5, writer, step, bytes);
        if (check::rank() == writer) write_all(alone, 0, data);
        barrier();
        model::Bytes found(bytes);
        check::ok(MPI_File_read_at_all(file, 0, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        check::same_bytes(data, found, "what one rank wrote");
        barrier();
    }
    close(alone);
    close(file);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

/// Of the ranks whose numbers have the same rest.
MPI_Comm group_of(int rest) {
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rest, check::rank(), &group);
    return group;
}

/// Groups of ranks write their pieces of the same rows, each by a communicator of its own; then
/// all ranks read what the other group has written, by three kinds of handle.
void groups_write() {
    auto const name = check::fresh_file("behind.bin", 0);
    int const ranks = check::size(), other = (check::rank() + 1) % ranks;
    MPI_Comm group = group_of(check::rank() % 2);
    MPI_File file = open(name, MPI_MODE_RDWR, group), all = open(name),
             alone = open(name, MPI_MODE_RDWR, MPI_COMM_SELF);
    set_pieces(file, check::rank(), ranks);
    for (MPI_File handle : {all, alone}) set_pieces(handle, other, ranks);
    for (int step = 0; step < 4; ++step) {
        auto const at = MPI_Offset{bytes} * (step / 2);  // Each second step over the one before.
        write_all(file, at, model::data_of(5, check::rank(), step, bytes));
        barrier();
        auto const theirs = model::data_of(5, other, step, bytes);
        read_by(all, at, theirs, "by a handle of all");
        read_by(alone, at, theirs, "by a handle of one rank");
        model::Bytes found(bytes);
        check::ok(MPI_File_read_at_all(all, at, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        check::same_bytes(theirs, found, "by a collective read");
        barrier();
    }
    for (MPI_File handle : {alone, all, file}) close(handle);
    MPI_Comm_free(&group);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

bool is_locked(std::string const& name) {
    int const fd = ::open(name.c_str(), O_RDWR);
    struct flock any {};
    any.l_type = F_WRLCK;
    bool const locked = fcntl(fd, F_OFD_GETLK, &any) == 0 && any.l_type != F_UNLCK;
    ::close(fd);
    return locked;
}

/// The bytes of a group's write are marked for the ranks that have no part in it. On a device that
/// is slow enough that the write cannot be over before somebody looks.
void others_are_told_of_groups() {
    char const* const test = std::getenv("SLUICE_TEST");
    bool const is_slow = test && std::strstr(test, "device=") && check::size() > 2;
    if (!is_delayed() || !is_slow) return;
    auto const name = check::fresh_file("behind.bin", 0);
    bool const is_last = check::rank() == check::size() - 1;
    MPI_Comm group = group_of(is_last ? 1 : 0);
    MPI_File file = open(name, MPI_MODE_RDWR, group);
    set_pieces(file, check::rank(), check::size());
    barrier();
    if (!is_last) write_all(file, 0, model::data_of(5, check::rank(), 0, bytes));
    barrier();
    if (is_last) check::is_equal(true, is_locked(name), "a mark while the group writes");
    barrier();
    close(file);
    barrier();
    if (is_last) check::is_equal(false, is_locked(name), "a mark after the file was closed");
    MPI_Comm_free(&group);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

/// Rank 0 is in two groups whose pieces lie between each other's. The ranks of the second have made
/// their call while it makes the one of the first: nobody may wait for it there.
void groups_share_a_rank() {
    if (check::size() < 3) return;
    auto const name = check::fresh_file("behind.bin", 0);
    bool const in_first = check::rank() == 0 || check::rank() == 1;
    bool const in_second = check::rank() != 1;
    MPI_Comm first = group_of(in_first ? 0 : MPI_UNDEFINED);
    MPI_Comm second = group_of(in_second ? 0 : MPI_UNDEFINED);
    MPI_File a = MPI_FILE_NULL, b = MPI_FILE_NULL;
    if (in_first) a = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, first);
    if (in_second) b = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, second);
    int const width = check::size() + 1;
    model::File expected;
    for (int step = 0; step < 3; ++step) {
        auto const at = MPI_Offset{bytes} * step;
        int const second_place = check::rank() == 0 ? check::size() : check::rank();
        if (in_first) set_pieces(a, check::rank(), width);
        if (in_second) set_pieces(b, second_place, width);
        if (in_first) write_all(a, at, model::data_of(5, check::rank(), step, bytes));
        if (in_second) write_all(b, at, model::data_of(6, check::rank(), step, bytes));
    }
    if (in_first) close(a);
    if (in_second) close(b);
    for (int r = 0; r < width; ++r) {
        model::Bytes data;
        for (int step = 0; step < 3; ++step) {
            auto const more = r < 2 ? model::data_of(5, r, step, bytes)
                                    : model::data_of(6, r % check::size(), step, bytes);
            data.insert(data.end(), more.begin(), more.end());
        }
        expect_pieces(expected, r, width, data);
    }
    if (in_first) MPI_Comm_free(&first);
    if (in_second) MPI_Comm_free(&second);
    check::compare_and_remove(name, expected);
}

void size_is_known() {
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    MPI_Offset size = 0;
    for (int step = 1; step <= 3; ++step) {
        auto const data = model::data_of(5, check::rank(), step, bytes);
        write_all(file, MPI_Offset{bytes} * (step * check::size() + check::rank()), data);
        barrier();
        check::ok(MPI_File_get_size(file, &size));
        check::is_equal(MPI_Offset{bytes} * (step + 1) * check::size(), size, "size");
        check::ok(MPI_File_seek(file, 0, MPI_SEEK_END));
        check::ok(MPI_File_get_position(file, &size));
        check::is_equal(MPI_Offset{bytes} * (step + 1) * check::size(), size, "end");
        barrier();
    }
    check::ok(MPI_File_set_size(file, 100));
    check::ok(MPI_File_get_size(file, &size));
    check::is_equal(MPI_Offset{100}, size, "size after it was set");
    close(file);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

/// More than the memory holds at once, in writes of very different lengths; some are longer.
void memory_is_bounded() {
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    model::File expected;
    MPI_Offset at = 0;
    for (int step = 0; step < 24; ++step) {
        int const length = 1 + (step * 7919 % 23) * 9001;
        for (int r = 0; r < check::size(); ++r) {
            auto const data = model::data_of(5, r, step, length);
            if (r == check::rank() && step % 3 == 2)
                check::ok(
                    MPI_File_write_at(file, at, data.data(), length, MPI_BYTE, MPI_STATUS_IGNORE));
            else if (r == check::rank())
                write_all(file, at, data);
            expected.write({{at, length}}, data);
            at += length;
        }
    }
    close(file);
    check::compare_and_remove(name, expected);
}

void split_and_pointer() {
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    set_pieces(file, check::rank(), check::size());
    model::File expected;
    model::Bytes all;
    for (int step = 0; step < 3; ++step) {
        auto data = model::data_of(5, check::rank(), step, bytes);
        MPI_Status status{};
        check::ok(MPI_File_write_all_begin(file, data.data(), bytes, MPI_BYTE));
        check::ok(MPI_File_write_all_end(file, data.data(), &status));
        std::fill(data.begin(), data.end(), model::untouched);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        check::is_equal(bytes, count, "count");
    }
    close(file);
    for (int r = 0; r < check::size(); ++r) {
        for (int i = 0; i < 3 * pieces; ++i) {
            auto const data = model::data_of(5, r, i / pieces, bytes);
            auto const first = data.begin() + std::ptrdiff_t{i % pieces} * piece;
            expected.write({{std::int64_t{piece} * (std::int64_t{i} * check::size() + r), piece}},
                           model::Bytes(first, first + piece));
        }
    }
    check::compare_and_remove(name, expected);
}

/// The system refuses bytes beyond a limit. All ranks hear of it, once, and nothing else is lost.
void errors_are_told_once() {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    check::ok(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    rlimit const limited{1 << 20, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
    auto const data = model::data_of(5, check::rank(), 0, bytes);
    int errors = 0;
    auto const count = [&](int code) { errors += code == MPI_SUCCESS ? 0 : 1; };
    auto const at = MPI_Offset{bytes} * check::rank();
    count(MPI_File_write_at_all(file, (MPI_Offset{1} << 21) + at, data.data(), bytes, MPI_BYTE,
                                MPI_STATUS_IGNORE));
    count(MPI_File_sync(file));
    count(MPI_File_write_at_all(file, at, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    count(MPI_File_sync(file));
    check::is_equal(1, errors, "errors that this rank was told of");
    setrlimit(RLIMIT_FSIZE, &before);
    close(file);
    model::File expected;
    for (int r = 0; r < check::size(); ++r)
        expected.write({{MPI_Offset{bytes} * r, bytes}}, model::data_of(5, r, 0, bytes));
    check::compare_and_remove(name, expected);
}

/// Equal steps, as guessed; then one that somebody has changed meanwhile, and others.
void time_series(bool scattered) {
    constexpr int steps = 8;
    auto const all = bytes * check::size();
    auto const name = check::fresh_file("behind.bin", std::int64_t{all} * steps);
    MPI_File file = open(name), alone = open(name, MPI_MODE_RDWR, MPI_COMM_SELF);
    if (scattered) set_pieces(file, check::rank(), check::size());
    auto contents = model::prefill(0, std::int64_t{all} * steps);
    for (int step = 0; step < steps; ++step) {
        int const which = step == 5 ? 1 : step;  // Once not the next one.
        bool const changes = step == 3 || step == 6;
        if (changes && check::rank() == step % check::size()) {
            auto const data = model::data_of(5, 0, step, all);
            check::ok(MPI_File_write_at(alone, MPI_Offset{all} * which, data.data(), all, MPI_BYTE,
                                        MPI_STATUS_IGNORE));
        }
        if (changes) {
            auto const data = model::data_of(5, 0, step, all);
            std::copy(data.begin(), data.end(), contents.begin() + std::ptrdiff_t{all} * which);
        }
        barrier();
        model::Bytes found(bytes), expected(bytes);
        for (int i = 0; i < bytes; ++i) {
            std::ptrdiff_t const there =
                scattered ? (std::ptrdiff_t{i} / piece * check::size() + check::rank()) * piece +
                                i % piece
                          : std::ptrdiff_t{bytes} * check::rank() + i;
            expected[static_cast<std::size_t>(i)] =
                contents[static_cast<std::size_t>(std::ptrdiff_t{all} * which + there)];
        }
        auto const at = scattered ? MPI_Offset{bytes} * which
                                  : MPI_Offset{all} * which + MPI_Offset{bytes} * check::rank();
        check::ok(MPI_File_read_at_all(file, at, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        check::same_bytes(expected, found, "step " + std::to_string(step));
        barrier();
    }
    close(alone);
    close(file);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

std::vector<check::Test> make_tests() {
    return {{"returns_before_the_others", returns_before_the_others},
            {"later_writes_win", later_writes_win},
            {"others_see_it/collective", [] { others_see_it(true); }},
            {"others_see_it/independent", [] { others_see_it(false); }},
            {"a_rank_writes_alone", a_rank_writes_alone},
            {"groups_write", groups_write},
            {"others_are_told_of_groups", others_are_told_of_groups},
            {"groups_share_a_rank", groups_share_a_rank},
            {"size_is_known", size_is_known},
            {"memory_is_bounded", memory_is_bounded},
            {"split_and_pointer", split_and_pointer},
            {"errors_are_told_once", errors_are_told_once},
            {"time_series/contiguous", [] { time_series(false); }},
            {"time_series/scattered", [] { time_series(true); }}};
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "behind_test", make_tests); }
