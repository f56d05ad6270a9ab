// What a program sees of blocking writes that return before their bytes are in the file, and of
// reads that are made before they are asked for. Runs with SLUICE_WRITE_BEHIND, the hint
// sluice_read_ahead and SLUICE_TEST=behind=always, and passes without them, but for
// `returns_before_the_others`.
#include "behind_form.hpp"

#include <csignal>
#include <sys/resource.h>

namespace {

using namespace access_form;
using namespace behind_form;

/// A handle that delays nothing, used before any other, decides nothing about memory or journals:
/// the tests that follow see writes that are delayed.
void the_first_file_is_only_read() {
    auto const name = check::fresh_file("behind.bin", bytes);
    MPI_File file = open(name, MPI_MODE_RDONLY);
    model::Bytes found(bytes);
    check::ok(MPI_File_read_at_all(file, 0, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    check::same_bytes(model::prefill(0, bytes), found, "a file that is only read");
    close(file);
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
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

/// The end may lie in what is delayed: nobody waits for the bytes to tell it.
void length_is_known_early() {
    constexpr int writes = 200;  // They take a while, one after the other.
    bool const is_last = check::rank() == check::size() - 1;
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    MPI_Offset const end = MPI_Offset{piece} * writes;
    MPI_Offset size = 0;
    auto const data = model::data_of(5, check::rank(), 0, piece);
    for (int i = 0; is_last && i < writes; ++i)
        check::ok(MPI_File_write_at(file, MPI_Offset{piece} * i, data.data(), piece, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
    if (is_last) {
        check::ok(MPI_File_get_size(file, &size));
        bool const is_early = check::posix_size(name) < end;
        check::is_equal(end, size, "length");
        if (is_slow()) check::is_true(is_early, "the length is known before the bytes are there");
    }
    barrier();
    check::ok(MPI_File_get_size(file, &size));
    check::is_equal(end, size, "length that another rank sees");
    check::ok(MPI_File_set_size(file, end));  // As HDF5 does.
    check::ok(MPI_File_set_size(file, end - 1));
    check::ok(MPI_File_get_size(file, &size));
    check::is_equal(end - 1, size, "length, shortened");
    close(file);
    barrier();
    check::is_equal(std::int64_t{end - 1}, check::posix_size(name), "length of the closed file");
    barrier();
    if (check::rank() == 0) ::unlink(name.c_str());
    barrier();
}

bool has(model::Bytes const& found, MPI_Offset at, model::Bytes const& wanted) {
    return std::ssize(found) >= at + std::ssize(wanted) &&
           std::equal(wanted.begin(), wanted.end(), found.begin() + at);
}

/// A rank writes the same bytes again and again, in pieces that overlap, as HDF5 does with what it
/// keeps of a file: the last write of each byte counts, and no call waits for an earlier one.
void written_again() {
    constexpr int steps = 5, width = piece * 8;
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    auto const own = MPI_Offset{width} * check::rank();
    model::File expected;
    int early = 0;
    for (int step = 0; step < steps; ++step) {
        int const writes = step == 0 ? 40 : 12;  // So many wait, so few do not.
        model::File before;                      // The last write.
        for (int i = 0; i < writes; ++i) {
            before = expected;
            auto const at = [&](int rank) { return width * rank + (i * 7 + step) % 5 * piece; };
            int const length = piece * (1 + i % 4);
            auto const data = [&](int rank) {
                return model::data_of(5, rank, step * 40 + i, length);
            };
            check::ok(MPI_File_write_at(file, at(check::rank()), data(check::rank()).data(), length,
                                        MPI_BYTE, MPI_STATUS_IGNORE));
            for (int rank = 0; rank < check::size(); ++rank)
                expected.write({{at(rank), length}}, data(rank));
        }
        auto const found = check::posix_read(name);
        bool const waited = has(found, own, before.read({{own, width}})) ||
                            has(found, own, expected.read({{own, width}}));
        if (!waited) ++early;
        barrier();
        int const other = (check::rank() + 1) % check::size();
        auto const there = MPI_Offset{width} * other;
        read_by(file, there, expected.read({{there, width}}), "what was written last");
        barrier();
    }
    // Other work may keep a rank from its calls for as long as they would have waited.
    if (is_slow()) check::is_true(early > 0, "calls wait for no bytes");
    close(file);
    check::compare_and_remove(name, expected);
}

/// The end may lie in what a rank has delayed by another handle.
void opened_at_end() {
    constexpr int writes = 20;  // They take a while, one after the other.
    auto const name = check::fresh_file("behind.bin", 0);
    MPI_File file = open(name);
    MPI_Offset end = 0;
    for (int step = 0; step < 4; ++step) {
        for (int i = 0; i < writes; ++i, end += piece) {
            if (check::rank() != check::size() - 1) continue;
            auto const data = model::data_of(5, check::rank(), i, piece);
            check::ok(
                MPI_File_write_at(file, end, data.data(), piece, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        MPI_File at_end = open(name, MPI_MODE_RDWR | MPI_MODE_APPEND);
        MPI_Offset position = 0, shared = 0;
        check::ok(MPI_File_get_position(at_end, &position));
        check::is_equal(end, position, "file pointer at the open");
        check::ok(MPI_File_get_position_shared(at_end, &shared));
        check::is_equal(end, shared, "shared pointer at the open");
        close(at_end);
    }
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
    return {{"the_first_file_is_only_read", the_first_file_is_only_read},
            {"returns_before_the_others", returns_before_the_others},
            {"later_writes_win", later_writes_win},
            {"others_see_it/collective", [] { others_see_it(true); }},
            {"others_see_it/independent", [] { others_see_it(false); }},
            {"a_rank_writes_alone", a_rank_writes_alone},
            {"size_is_known", size_is_known},
            {"length_is_known_early", length_is_known_early},
            {"written_again", written_again},
            {"opened_at_end", opened_at_end},
            {"memory_is_bounded", memory_is_bounded},
            {"split_and_pointer", split_and_pointer},
            {"errors_are_told_once", errors_are_told_once},
            {"time_series/contiguous", [] { time_series(false); }},
            {"time_series/scattered", [] { time_series(true); }}};
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "behind_test", make_tests); }
