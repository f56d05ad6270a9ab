// The shared file pointer: writers that nobody orders leave whole records without gaps, calls in
// the order of the ranks, and where the pointer is after each call. Passes without Sluice, too.
#include "shared_cases.hpp"

namespace {

using namespace shared_calls;

constexpr int kept = 5, hole = 3;  ///< Words of a view with holes.

/// All ranks at once, without any order.
void write_records(MPI_File file, Way way, int records) {
    for (int number = 0; number < records; ++number) {
        auto const record = record_of(check::rank(), number);
        MPI_Status status{};
        check::ok(
            write_alone(file, way, record.data(), size_of_words(record), MPI_UINT32_T, &status),
            name_of(way));
        int count = 0;
        MPI_Get_count(&status, MPI_UINT32_T, &count);
        check::is_equal(size_of_words(record), count, "count");
    }
}

MPI_Offset words_of_records(int writers, int records) {
    MPI_Offset words = 0;
    for (int writer = 0; writer < writers; ++writer)
        for (int number = 0; number < records; ++number) words += length_of(writer, number);
    return words;
}

void records(Way way, bool has_holes) {
    constexpr int count = 60;
    auto const name = new_file(0);
    MPI_File file = open(name);
    set_view_of_words(file, 0, kept, has_holes ? hole : 0);
    write_records(file, way, count);
    expect_position(file, words_of_records(check::size(), count), "after the records");
    close(file);
    meet();
    if (check::rank() == 0) {
        auto const found = words_of(check::posix_read(name));
        expect_records(has_holes ? without_holes(found, kept, hole) : found, check::size(), count,
                       true);
    }
    remove(name);
}

/// Requests of one rank end in any order, but their places are taken at the call.
void outstanding() {
    constexpr int count = 40;
    auto const name = new_file(0);
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    std::vector<Words> all;
    std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
    for (int number = 0; number < count; ++number) all.push_back(record_of(check::rank(), number));
    for (std::size_t i = 0; i < count; ++i)
        check::ok(MPI_File_iwrite_shared(file, all[i].data(), size_of_words(all[i]), MPI_UINT32_T,
                                         &requests[i]));
    check::ok(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    close(file);
    meet();
    if (check::rank() == 0)
        expect_records(words_of(check::posix_read(name)), check::size(), count, true);
    remove(name);
}

/// Each piece of the file goes to one rank, and to no other.
void pieces_are_read_once(Way way) {
    constexpr int piece = 7, count = 50;
    auto const pieces = static_cast<std::size_t>(count * check::size());
    auto const name = new_file(0);
    if (check::rank() == 0) {
        Words all(pieces * piece);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
        model::Bytes bytes(all.size() * 4);
        std::memcpy(bytes.data(), all.data(), bytes.size());
        check::posix_write(name, bytes);
    }
    meet();
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    std::vector<int> mine(pieces, 0), all(pieces, 0);
    for (int i = 0; i < count; ++i) {
        Words words(piece);
        check::ok(read_alone(file, way, words.data(), piece, MPI_UINT32_T, MPI_STATUS_IGNORE));
        std::size_t const which = words[0] / piece;
        for (std::uint32_t j = 0; j < piece; ++j) check::is_equal(words[0] + j, words[j], "word");
        if (check::is_true(words[0] % piece == 0 && which < pieces, "a piece")) ++mine[which];
    }
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(pieces), MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    check::is_true(std::all_of(all.begin(), all.end(), [](int n) { return n == 1; }),
                   "each piece is read once");
    close(file);
    remove(name);
}

/// One after the other, with nothing by some ranks; then read back, by the other order of steps.
void ordered(InOrder way, bool has_holes) {
    constexpr int steps = 8;
    auto const name = new_file(0);
    MPI_File file = open(name);
    set_view_of_words(file, 0, kept, has_holes ? hole : 0);
    auto const brings = [](int rank, int step) { return step % 3 != 1 || rank % 2 != 0; };
    Words expected;
    std::vector<MPI_Offset> begins;
    for (int step = 0; step < steps; ++step) {
        begins.push_back(static_cast<MPI_Offset>(expected.size()));
        for (int r = 0; r < check::size(); ++r) {
            auto const record = brings(r, step) ? record_of(r, step) : Words{};
            expected.insert(expected.end(), record.begin(), record.end());
        }
        auto const mine = brings(check::rank(), step) ? record_of(check::rank(), step) : Words{};
        check::ok(write_in_order(file, way, mine.data(), size_of_words(mine), MPI_UINT32_T,
                                 MPI_STATUS_IGNORE),
                  name_of(way));
    }
    expect_position(file, static_cast<MPI_Offset>(expected.size()), "after all steps");
    check::ok(MPI_File_sync(file));
    meet();
    for (int step = steps - 1; step >= 0; --step) {
        check::ok(MPI_File_seek_shared(file, begins[static_cast<std::size_t>(step)], MPI_SEEK_SET));
        auto const mine = brings(check::rank(), step) ? record_of(check::rank(), step) : Words{};
        Words found(mine.size());
        check::ok(read_in_order(file, way, found.data(), size_of_words(found), MPI_UINT32_T,
                                MPI_STATUS_IGNORE));
        check::is_true(found == mine, "what was written in order");
    }
    close(file);
    meet();
    if (check::rank() == 0) {
        auto const found = words_of(check::posix_read(name));
        auto const kept_words = has_holes ? without_holes(found, kept, hole) : found;
        check::is_true(kept_words == expected, "the ranks' parts follow each other");
    }
    remove(name);
}

/// The pointer moves by what is asked for, wherever the file ends (MPI-4.1, 14.4.4).
void across_the_end() {
    constexpr int words = 10;
    auto const name = new_file(words * 4 + 8);
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    for (int step = 0; step < 3; ++step) {
        if (check::rank() == 0) {
            Words found(words);
            MPI_Status status{};
            check::ok(MPI_File_read_shared(file, found.data(), words, MPI_UINT32_T, &status));
            int count = -1;
            MPI_Get_count(&status, MPI_UINT32_T, &count);
            std::array const expected{words, 2, 0};
            // Open MPI counts what lies behind the end.
            if (!check::state().options.plain)
                check::is_equal(expected[static_cast<std::size_t>(step)], count, "count");
        }
        expect_position(file, MPI_Offset{words} * (step + 1), "by what was asked for");
    }
    close(file);
    remove(name);
}

/// Calls with either pointer, and with offsets, do not move the other pointer.
void mixed() {
    constexpr int rounds = 5;
    int const ranks = check::size(), rank = check::rank();
    auto const name = new_file(0);
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    Words expected;
    auto const add = [&](int number) {
        auto const at = static_cast<MPI_Offset>(expected.size());
        auto const record = record_of(ranks, number);
        expected.insert(expected.end(), record.begin(), record.end());
        return std::pair(at, record);
    };
    for (int round = 0; round < rounds; ++round) {
        int const writer = round % ranks;
        for (int number = 4 * round; number < 4 * round + 4; ++number) {
            auto const [at, record] = add(number);
            int const n = rank == writer ? size_of_words(record) : 0;
            MPI_Offset const own = position(file);
            switch (number % 4) {
            case 0:
                check::ok(MPI_File_seek_shared(file, at, MPI_SEEK_SET));
                check::ok(MPI_File_write_ordered(file, record.data(), n, MPI_UINT32_T,
                                                 MPI_STATUS_IGNORE));
                break;
            case 1:
                if (n > 0)
                    check::ok(MPI_File_write_shared(file, record.data(), n, MPI_UINT32_T,
                                                    MPI_STATUS_IGNORE));
                break;
            case 2:
                check::ok(MPI_File_write_at_all(file, at, record.data(), n, MPI_UINT32_T,
                                                MPI_STATUS_IGNORE));
                break;
            default:
                if (n > 0)
                    check::ok(MPI_File_write_at(file, at, record.data(), n, MPI_UINT32_T,
                                                MPI_STATUS_IGNORE));
            }
            check::is_equal(own, position(file), "the individual pointer");
            bool const moves = number % 4 < 2;
            if (moves) expect_position(file, at + size_of_words(record), "the shared pointer");
        }
        check::ok(MPI_File_seek(file, rank, MPI_SEEK_SET));
    }
    close(file);
    meet();
    if (rank == 0) check::is_true(words_of(check::posix_read(name)) == expected, "all records");
    remove(name);
}

void expect_seek(MPI_File file, MPI_Offset offset, int whence, MPI_Offset expected) {
    check::ok(MPI_File_seek_shared(file, offset, whence), "MPI_File_seek_shared");
    expect_position(file, expected, "after a seek");
}

/// By all ways to count; from an end that lies in a hole, too.
void seeks() {
    auto const name = new_file(4 * (kept + hole) * 10);
    MPI_File file = open(name);
    set_view_of_words(file, 0, kept, hole);
    expect_seek(file, 12, MPI_SEEK_SET, 12);
    expect_seek(file, -5, MPI_SEEK_CUR, 7);
    expect_seek(file, 100, MPI_SEEK_CUR, 107);
    expect_seek(file, 0, MPI_SEEK_END, kept * 10);
    expect_seek(file, -3, MPI_SEEK_END, kept * 10 - 3);
    // In the stream of the view nobody's words have no place.
    Words const word{1};
    if (check::rank() == 0)
        check::ok(MPI_File_write_at(file, kept * 10 + 2, word.data(), 1, MPI_UINT32_T,
                                    MPI_STATUS_IGNORE));
    meet();
    expect_seek(file, 0, MPI_SEEK_END, kept * 10 + 3);
    set_view_of_words(file, 0);
    expect_position(file, 0, "after a new view");
    expect_seek(file, 1, MPI_SEEK_SET, 1);
    set_view_of_words(file, 40);
    expect_position(file, 0, "after another view");
    close(file);
    remove(name);
}

void appends() {
    constexpr int before = 40;
    auto const name = new_file(before);
    MPI_File file = open(name, MPI_MODE_WRONLY | MPI_MODE_APPEND);
    expect_position(file, before, "right after the open");
    auto const record = record_of(check::rank(), 0);
    check::ok(MPI_File_write_ordered(file, record.data(), size_of_words(record), MPI_UINT32_T,
                                     MPI_STATUS_IGNORE));
    close(file);
    meet();
    if (check::rank() == 0) {
        auto const found = words_of(check::posix_read(name));
        Words const behind(found.begin() + before / 4, found.end());
        expect_records(behind, check::size(), 1, true);
    }
    remove(name);
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests;
    for (bool const has_holes : {false, true}) {
        std::string const view = has_holes ? "/holes" : "/dense";
        for (Way const way : {Way::blocking, Way::nonblocking, Way::large, Way::large_nonblocking})
            tests.push_back(
                {"records/" + std::string(name_of(way)) + view, [=] { records(way, has_holes); }});
        for (InOrder const way :
             {InOrder::blocking, InOrder::split, InOrder::large, InOrder::large_split})
            tests.push_back(
                {"ordered/" + std::string(name_of(way)) + view, [=] { ordered(way, has_holes); }});
    }
    for (Way const way : {Way::blocking, Way::nonblocking, Way::large, Way::large_nonblocking})
        tests.push_back({"pieces_are_read_once/" + std::string(name_of(way)),
                         [=] { pieces_are_read_once(way); }});
    tests.push_back({"outstanding", outstanding});
    tests.push_back({"across_the_end", across_the_end});
    tests.push_back({"mixed", mixed});
    tests.push_back({"seeks", seeks});
    tests.push_back({"several_files", several_files});
    tests.push_back({"appends", appends});
    tests.push_back({"errors", errors});
    tests.push_back({"too_far", too_far});
    tests.push_back({"threads", threads});
    return tests;
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "shared_test", make_tests); }
