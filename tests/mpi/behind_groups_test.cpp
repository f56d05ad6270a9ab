// Write-behind where a file's communicator has some of the program's ranks: others have to wait for
// what these have still to write, and nobody may wait for ever.
#include "behind_form.hpp"

#include <cstring>

namespace {

using namespace access_form;
using namespace behind_form;

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

/// A rank that has no part in a group's write waits for it. On a device that is slow enough that
/// the write is under way for a while.
void others_are_told_of_groups() {
    char const* const test = std::getenv("SLUICE_TEST");
    bool const is_slow = test && std::strstr(test, "device=") && check::size() > 2;
    if (!is_delayed() || !is_slow) return;
    auto const name = check::fresh_file("behind.bin", 0);
    bool const is_last = check::rank() == check::size() - 1;
    MPI_Comm group = group_of(is_last ? 1 : 0);
    MPI_File file = open(name, MPI_MODE_RDWR, group);
    set_pieces(file, is_last ? 0 : check::rank(), check::size());
    barrier();
    if (!is_last) write_all(file, 0, model::data_of(5, check::rank(), 0, bytes));
    barrier();
    if (is_last) read_by(file, 0, model::data_of(5, 0, 0, bytes), "what the group writes");
    barrier();
    close(file);
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

std::vector<check::Test> make_tests() {
    return {{"groups_write", groups_write},
            {"others_are_told_of_groups", others_are_told_of_groups},
            {"groups_share_a_rank", groups_share_a_rank}};
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "behind_groups_test", make_tests);
}
