// The functions with large counts (MPI_Count), in MPIs that have them: one call of each with small
// data, and types whose extent is larger than 4 GiB, so that offsets need more than 32 bits.
#include "access.hpp"

namespace {

#ifdef SLUICE_HAVE_LARGE_COUNT
using namespace access_form;

constexpr MPI_Count bytes = 7000;

MPI_Offset place(int call) {
    return (static_cast<MPI_Offset>(call) * check::size() + check::rank()) * bytes;
}

void check_count(MPI_Status const& status) {
    MPI_Count found = -1;
    MPI_Get_count_c(&status, MPI_BYTE, &found);
    check::is_equal(bytes, found, "count in the status");
}

/// Writes by each of the four calls, one after the other.
void write_calls(MPI_File file) {
    MPI_Status status{};
    MPI_Request handle = MPI_REQUEST_NULL;
    for (int call = 0; call < 4; ++call) {
        auto const data = model::data_of(9, check::rank(), call, bytes);
        auto const at = place(call);
        MPI_File_seek(file, at, MPI_SEEK_SET);
        if (call == 0) check::ok(MPI_File_write_all_c(file, data.data(), bytes, MPI_BYTE, &status));
        if (call == 1) {
            check::ok(MPI_File_write_at_all_c(file, at, data.data(), bytes, MPI_BYTE, &status));
        }
        if (call == 2)
            check::ok(MPI_File_iwrite_all_c(file, data.data(), bytes, MPI_BYTE, &handle));
        if (call == 3) {
            check::ok(MPI_File_iwrite_at_all_c(file, at, data.data(), bytes, MPI_BYTE, &handle));
        }
        if (call > 1) check::ok(MPI_Wait(&handle, &status));
        check_count(status);
    }
}

void read_calls(MPI_File file) {
    MPI_Status status{};
    MPI_Request handle = MPI_REQUEST_NULL;
    for (int call = 0; call < 4; ++call) {
        model::Bytes data(bytes);
        auto const at = place(call);
        MPI_File_seek(file, at, MPI_SEEK_SET);
        if (call == 0) check::ok(MPI_File_read_all_c(file, data.data(), bytes, MPI_BYTE, &status));
        if (call == 1) {
            check::ok(MPI_File_read_at_all_c(file, at, data.data(), bytes, MPI_BYTE, &status));
        }
        if (call == 2) check::ok(MPI_File_iread_all_c(file, data.data(), bytes, MPI_BYTE, &handle));
        if (call == 3) {
            check::ok(MPI_File_iread_at_all_c(file, at, data.data(), bytes, MPI_BYTE, &handle));
        }
        if (call > 1) check::ok(MPI_Wait(&handle, &status));
        check_count(status);
        check::same_bytes(model::data_of(9, check::rank(), call, bytes), data, "read back");
    }
}

void every_call() {
    auto const name = check::fresh_file("large_count.bin", 0);
    MPI_File file = open(name);
    write_calls(file);
    read_calls(file);
    close(file);
    model::File expected;
    for (int call = 0; call < 4; ++call) {
        for (int r = 0; r < check::size(); ++r) {
            expected.write({{(static_cast<std::int64_t>(call) * check::size() + r) * bytes, bytes}},
                           model::data_of(9, r, call, bytes));
        }
    }
    check::compare_and_remove(name, expected);
}

/// Three pieces with 3 GiB between them, by a large-count type: a sparse file of some GiB in size
/// and some KiB on the disk.
void far_apart() {
    constexpr MPI_Count step = MPI_Count{3} << 30;
    auto const name = check::fresh_file("large_count.bin", 0);
    MPI_File file = open(name);
    MPI_Datatype pieces = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector_c(3, 1000, step, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    auto const start = MPI_Offset{1000} * check::rank();
    check::ok(MPI_File_set_view(file, start, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    MPI_Type_free(&pieces);
    auto const data = model::data_of(9, check::rank(), 0, 3000);
    MPI_Request handle = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_at_all_c(file, 0, data.data(), 3000, MPI_BYTE, &handle));
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    model::Bytes back(data.size());
    check::ok(MPI_File_read_at_all_c(file, 0, back.data(), 3000, MPI_BYTE, MPI_STATUS_IGNORE));
    check::same_bytes(data, back, "read back");
    MPI_Offset size = 0;
    MPI_File_get_size(file, &size);
    check::is_equal(static_cast<MPI_Offset>(2 * step + 1000 * check::size()), size, "file size");
    close(file);
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif

std::vector<check::Test> make_tests() {
#ifdef SLUICE_HAVE_LARGE_COUNT
    return {{"every_call", every_call}, {"far_apart", far_apart}};
#else
    return {};
#endif
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "large_count_test", make_tests);
}
