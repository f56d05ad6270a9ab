// One handle in external32 has one layout, whichever call uses it: collective or independent,
// blocking or not, and the calls that move the pointer or tell of the view.
#pragma once
#include "datatypes_external.hpp"

#include <numeric>
#include <vector>

namespace datatypes {

inline std::vector<long> longs(std::size_t count, long first) {
    std::vector<long> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// Of 4 bytes each, as the file has them.
inline model::Bytes external_longs(std::vector<long> const& values) {
    model::Bytes bytes;
    for (long const value : values) {
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes.push_back(static_cast<unsigned char>(value >> shift));
    }
    return bytes;
}

inline MPI_Offset position(MPI_File file) {
    MPI_Offset etypes = -1;
    check::ok(MPI_File_get_position(file, &etypes));
    return etypes;
}

inline MPI_Offset byte_offset(MPI_File file, MPI_Offset etypes) {
    MPI_Offset bytes = -1;
    check::ok(MPI_File_get_byte_offset(file, etypes, &bytes));
    return bytes;
}

inline MPI_Aint extent_in_file(MPI_File file, MPI_Datatype type) {
    MPI_Aint extent = -1;
    check::ok(MPI_File_get_type_extent(file, type, &extent));
    return extent;
}

inline void check_counted(int expected, MPI_Status const& status, MPI_Datatype type) {
    int count = -1;
    MPI_Get_count(&status, type, &count);
    check::is_equal(expected, count, "what the status counts");
}

/// Longs from `etypes` on, read in each way.
inline void check_longs(MPI_File file, MPI_Offset etypes, std::vector<long> const& expected) {
    int const n = static_cast<int>(expected.size());
    std::vector<long> found(expected.size());
    MPI_Status status;
    check::ok(MPI_File_read_at(file, etypes, found.data(), n, MPI_LONG, &status));
    check::is_true(found == expected, "longs of MPI_File_read_at");
    check_counted(n, status, MPI_LONG);
    std::ranges::fill(found, 0);
    check::ok(MPI_File_seek(file, etypes, MPI_SEEK_SET));
    check::ok(MPI_File_read(file, found.data(), n, MPI_LONG, &status));
    check::is_true(found == expected, "longs of MPI_File_read");
    check::is_equal(etypes + n, position(file), "pointer behind a read");
    std::ranges::fill(found, 0);
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_File_iread_at(file, etypes, found.data(), n, MPI_LONG, &request));
    check::ok(MPI_Wait(&request, &status));
    check::is_true(found == expected, "longs of MPI_File_iread_at");
}

/// Independent and collective calls change one file in turn.
inline void independent_longs() {
    ExternalFile const external(MPI_LONG);
    MPI_File const file = external.file;
    auto values = longs(100, -50);
    auto const put = [&](std::size_t at, std::vector<long> const& some) {
        std::ranges::copy(some, values.begin() + static_cast<std::ptrdiff_t>(at));
        return some.data();
    };
    check::ok(MPI_File_write_at_all(file, 0, values.data(), 100, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Status status;
    check::ok(MPI_File_write_at(file, 60, put(60, longs(5, 1000)), 5, MPI_LONG, &status));
    check_counted(5, status, MPI_LONG);
    check::ok(MPI_File_seek(file, 70, MPI_SEEK_SET));
    check::ok(MPI_File_seek(file, 2, MPI_SEEK_CUR));
    check::ok(MPI_File_write(file, put(72, longs(8, 2000)), 8, MPI_LONG, MPI_STATUS_IGNORE));
    check::is_equal(MPI_Offset{80}, position(file), "pointer behind a write");
    check::ok(MPI_File_write_all(file, put(80, longs(3, 3000)), 3, MPI_LONG, MPI_STATUS_IGNORE));
    check::ok(MPI_File_write_all_begin(file, put(83, longs(3, 4000)), 3, MPI_LONG));
    check::ok(MPI_File_write_all_end(file, values.data() + 83, MPI_STATUS_IGNORE));
    check_longs(file, 50, {values.begin() + 50, values.begin() + 90});
    check::same_bytes(external_longs(values), external.contents(), "longs in the file");

    long const too_large = 1L << 40;
    int const code = MPI_File_write_at(file, 60, &too_large, 1, MPI_LONG, MPI_STATUS_IGNORE);
    check::is_equal(MPI_ERR_CONVERSION, check::class_of(code), "class of a long of 6 bytes");
    check::same_bytes(external_longs(values), external.contents(), "the file after the error");
}

/// What the calls that move nothing say of the view.
inline void what_the_view_tells() {
    ExternalFile const external(MPI_LONG);
    MPI_File const file = external.file;
    auto const values = longs(100, 0);
    check::ok(MPI_File_write(file, values.data(), 100, MPI_LONG, MPI_STATUS_IGNORE));
    check::ok(MPI_File_seek(file, 0, MPI_SEEK_SET));
    check::ok(MPI_File_seek(file, 0, MPI_SEEK_END));
    check::is_equal(MPI_Offset{100}, position(file), "longs before the end");
    check::is_equal(MPI_Offset{400}, byte_offset(file, 100), "offset of a long");
    check::is_equal(MPI_Aint{4}, extent_in_file(file, MPI_LONG), "extent of a long");
    check::is_equal(MPI_Aint{2}, extent_in_file(file, MPI_WCHAR), "extent of a wide character");
    check::is_equal(MPI_Aint{8}, extent_in_file(file, MPI_LONG_INT), "extent of a pair");
    check::is_equal(MPI_Aint{8}, extent_in_file(file, MPI_DOUBLE), "extent of a double");
    MPI_Offset displacement = -1;
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    char representation[MPI_MAX_DATAREP_STRING] = "";
    check::ok(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
    check::is_true(displacement == 0 && etype == MPI_LONG && filetype == MPI_LONG, "the view");
    check::is_equal(std::string("external32"), std::string(representation), "representation");
    for (MPI_Datatype const type : {MPI_UNSIGNED_LONG, MPI_WCHAR, MPI_LONG_INT, MPI_DOUBLE_INT,
                                    MPI_LONG_DOUBLE, MPI_2INT, MPI_INT}) {
        view_in_external32(file, type);
        MPI_Offset const bytes = extent_in_file(file, type);
        check::is_equal(3 * bytes, byte_offset(file, 3), "offset of the third element");
        check::ok(MPI_File_seek(file, 0, MPI_SEEK_END));
        check::is_equal((400 + bytes - 1) / bytes, position(file), "elements that begin there");
    }
}

/// Every second long of the file; the others are never touched.
inline void longs_with_holes() {
    ExternalFile const external(MPI_INT);
    MPI_Datatype one = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1, MPI_LONG, &one);
    MPI_Type_create_resized(one, 0, 8, &type);
    MPI_Type_commit(&type);
    auto values = longs(20, 7);
    check::ok(MPI_File_write(external.file, std::vector<int>(40, -1).data(), 40, MPI_INT,
                             MPI_STATUS_IGNORE));
    check::ok(MPI_File_set_view(external.file, 0, MPI_LONG, type, "external32", MPI_INFO_NULL));
    check::ok(
        MPI_File_write_at_all(external.file, 0, values.data(), 10, MPI_LONG, MPI_STATUS_IGNORE));
    check::ok(MPI_File_write_at(external.file, 10, &values[10], 10, MPI_LONG, MPI_STATUS_IGNORE));
    check_longs(external.file, 5, {values.begin() + 5, values.end()});
    check::is_equal(MPI_Offset{24}, byte_offset(external.file, 3), "offset of a long");
    check::is_equal(MPI_Aint{8}, extent_in_file(external.file, type), "extent of the filetype");
    std::vector<long> expected;
    for (long const value : values) expected.insert(expected.end(), {value, -1});
    check::same_bytes(external_longs(expected), external.contents(), "longs and holes");
    MPI_Type_free(&one);
    MPI_Type_free(&type);
}

/// MPICH ends the process when it packs a structure in external32.
inline void independent_structures() {
    ExternalFile const external(MPI_INT);
    MPI_Datatype type = members_type();
    std::array<Members, 2> const values{{{1, -2, 3.5}, {-4, 5, 6}}};
    std::array<Members, 2> found{};
    check::ok(MPI_File_write(external.file, values.data(), 2, type, MPI_STATUS_IGNORE));
    check::is_equal(MPI_Offset{8}, position(external.file), "pointer behind two structures");
    check::is_equal(std::size_t{32}, external.contents().size(), "bytes in the file");
    MPI_Status status;
    check::ok(MPI_File_read_at(external.file, 0, found.data(), 2, type, &status));
    check::is_true(found == values, "structures read again");
    check_counted(2, status, type);
    view_in_external32(external.file, type);
    check::ok(MPI_File_write_at(external.file, 1, &values[0], 1, type, MPI_STATUS_IGNORE));
    check::ok(MPI_File_read_at_all(external.file, 1, found.data(), 1, type, MPI_STATUS_IGNORE));
    check::is_true(found[0] == values[0], "a structure in a view of structures");
    MPI_Type_free(&type);
}

/// Each rank writes by itself, and all read all, in either order.
inline void ranks_mix_calls() {
    Opened const common("common32.bin");
    view_in_external32(common.file, MPI_LONG);
    auto const all = longs(static_cast<std::size_t>(10 * check::size()), 1);
    MPI_Offset const mine = MPI_Offset{10} * check::rank();
    long const* const own = all.data() + mine;
    auto const swap_calls = [&] {
        check::ok(MPI_File_sync(common.file));
        MPI_Barrier(MPI_COMM_WORLD);
        check::ok(MPI_File_sync(common.file));
    };
    check::ok(MPI_File_write_at(common.file, mine, own, 10, MPI_LONG, MPI_STATUS_IGNORE));
    swap_calls();
    std::vector<long> found(all.size());
    check::ok(MPI_File_read_at_all(common.file, 0, found.data(), static_cast<int>(all.size()),
                                   MPI_LONG, MPI_STATUS_IGNORE));
    check::is_true(found == all, "longs written independently");
    check::ok(MPI_File_seek(common.file, mine, MPI_SEEK_END));
    MPI_Barrier(MPI_COMM_WORLD);  // Until all have found the end.
    check::ok(MPI_File_write_all(common.file, own, 10, MPI_LONG, MPI_STATUS_IGNORE));
    swap_calls();
    check_longs(common.file, static_cast<MPI_Offset>(all.size()), all);
}

/// What all ranks wrote with the shared pointer, in external32.
inline void check_shared(Opened const& common, std::vector<long> const& written) {
    check::ok(MPI_File_sync(common.file));
    MPI_Barrier(MPI_COMM_WORLD);
    check::same_bytes(external_longs(written), check::posix_read(check::path("common32.bin")),
                      "integers of the shared pointer");
    MPI_Barrier(MPI_COMM_WORLD);
}

/// On several nodes the MPI has the shared pointer: it is refused where the MPI converts otherwise,
/// on all ranks.
inline void shared_pointer_of_mpi(Opened const& common) {
    long const value = 5;
    int const number = 6;
    auto const is_refused = [](int code) {
        check::is_equal(MPI_ERR_UNSUPPORTED_OPERATION, check::class_of(code), "class of the error");
    };
    view_in_external32(common.file, MPI_LONG);
    is_refused(MPI_File_write_shared(common.file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE));
    is_refused(MPI_File_write_ordered(common.file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE));
    view_in_external32(common.file, MPI_INT);
    is_refused(MPI_File_write_shared(common.file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Datatype const of_first = check::rank() == 0 ? MPI_LONG : MPI_INT;
    is_refused(MPI_File_write_ordered(common.file, &value, 1, of_first, MPI_STATUS_IGNORE));
    is_refused(MPI_File_write_ordered_begin(common.file, &value, 1, of_first));
    check::ok(MPI_File_write_ordered(common.file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    check::ok(MPI_File_write_shared(common.file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    check_shared(common, std::vector<long>(static_cast<std::size_t>(2 * check::size()), number));
}

/// A long has other bytes in memory than in the file, where the pointer counts.
inline void shared_pointer() {
    Opened const common("common32.bin");
    if (!check::is_one_node()) return shared_pointer_of_mpi(common);
    auto const ranks = static_cast<std::size_t>(check::size());
    long const value = 5;
    int const number = 6;
    std::vector<long> expected(ranks, value);
    view_in_external32(common.file, MPI_LONG);
    check::ok(MPI_File_write_shared(common.file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Datatype const of_first = check::rank() == 0 ? MPI_LONG : MPI_INT;
    void const* const of_rank = check::rank() == 0 ? static_cast<void const*>(&value) : &number;
    MPI_Barrier(MPI_COMM_WORLD);
    check::ok(MPI_File_write_ordered(common.file, of_rank, 1, of_first, MPI_STATUS_IGNORE));
    expected.push_back(value);
    expected.resize(2 * ranks, number);
    check::ok(MPI_File_write_ordered_begin(common.file, &number, 1, MPI_INT));
    check::ok(MPI_File_write_ordered_end(common.file, &number, MPI_STATUS_IGNORE));
    expected.resize(3 * ranks, number);
    MPI_Offset at = 0;
    check::ok(MPI_File_get_position_shared(common.file, &at));
    check::is_equal(static_cast<MPI_Offset>(expected.size()), at, "the shared pointer");
    check_shared(common, expected);
}

}  // namespace datatypes
