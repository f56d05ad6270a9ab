// Files in external32 as other programs see them, and reads that end amid a structure. Datatypes of
// MPI_Type_create_f90_*, which have no names and may not be freed.
#pragma once
#include "check.hpp"

#include <array>
#include <cstddef>

namespace datatypes {

struct Opened {
    explicit Opened(char const* name, MPI_Comm communicator = MPI_COMM_WORLD) {
        check::ok(MPI_File_open(communicator, check::path(name).c_str(),
                                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                MPI_INFO_NULL, &file));
    }
    ~Opened() { MPI_File_close(&file); }
    Opened(Opened const&) = delete;
    Opened& operator=(Opened const&) = delete;
    MPI_File file = MPI_FILE_NULL;
};

inline void view_in_external32(MPI_File file, MPI_Datatype type) {
    check::ok(MPI_File_set_view(file, 0, type, type, "external32", MPI_INFO_NULL));
}

/// A file of this rank alone, seen in external32.
class ExternalFile {
public:
    explicit ExternalFile(MPI_Datatype etype)
        : name_(check::path("external" + std::to_string(check::rank()) + ".bin")) {
        check::ok(MPI_File_open(MPI_COMM_SELF, name_.c_str(),
                                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                MPI_INFO_NULL, &file));
        view_in_external32(file, etype);
    }
    ~ExternalFile() { MPI_File_close(&file); }
    ExternalFile(ExternalFile const&) = delete;
    ExternalFile& operator=(ExternalFile const&) = delete;

    [[nodiscard]] model::Bytes contents() const {
        check::ok(MPI_File_sync(file));
        return check::posix_read(name_);
    }
    MPI_File file = MPI_FILE_NULL;

private:
    std::string name_;
};

/// MPI-4.1, 14.5.2: 4 bytes for an MPI_LONG. A number that has no place there is an error.
inline void longs_in_external32() {
    ExternalFile const external(MPI_LONG);
    std::array<long, 3> values{1, -2, 300};
    check::ok(
        MPI_File_write_at_all(external.file, 0, values.data(), 3, MPI_LONG, MPI_STATUS_IGNORE));
    model::Bytes const expected{0, 0, 0, 1, 255, 255, 255, 254, 0, 0, 1, 44};
    check::same_bytes(expected, external.contents(), "longs in the file");
    std::array<long, 3> found{};
    check::ok(MPI_File_read_at_all(external.file, 0, found.data(), 3, MPI_LONG, MPI_STATUS_IGNORE));
    check::is_true(found == values, "longs read again");
    values[1] = 1L << 40;
    int const code =
        MPI_File_write_at_all(external.file, 0, values.data(), 3, MPI_LONG, MPI_STATUS_IGNORE);
    check::is_equal(MPI_ERR_CONVERSION, check::class_of(code), "class of a long of 6 bytes");
    check::same_bytes(expected, external.contents(), "the file after the error");
}

struct Members {
    int a;
    long b;
    double c;
    bool operator==(Members const&) const = default;
};

inline MPI_Datatype members_type() {
    int const lengths[3] = {1, 1, 1};
    MPI_Aint const places[3] = {offsetof(Members, a), offsetof(Members, b), offsetof(Members, c)};
    MPI_Datatype const types[3] = {MPI_INT, MPI_LONG, MPI_DOUBLE};
    MPI_Datatype packed = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(3, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(Members), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    return type;
}

/// The file ends behind the first member of the second structure.
inline void short_read_of_structures() {
    ExternalFile const external(MPI_INT);
    MPI_Datatype type = members_type();
    std::array<Members, 2> const values{{{1, 2, 3.5}, {-4, 5, 6}}};
    MPI_Status status;
    int elements = 0;
    check::ok(MPI_File_write_at_all(external.file, 0, values.data(), 2, type, &status));
    MPI_Get_elements(&status, type, &elements);
    check::is_equal(6, elements, "elements written");
    check::is_equal(std::size_t{32}, external.contents().size(), "bytes in the file");
    check::ok(MPI_File_set_size(external.file, 20));

    Members const untouched{7, 1L << 50, 1e300};
    std::array<Members, 3> found{untouched, untouched, untouched};
    check::ok(MPI_File_read_at_all(external.file, 0, found.data(), 3, type, &status));
    MPI_Get_elements(&status, type, &elements);
    check::is_equal(4, elements, "elements read");
    check::is_true(found[0] == values[0], "the first structure");
    check::is_true((found[1] == Members{-4, untouched.b, untouched.c}), "the second structure");
    check::is_true(found[2] == untouched, "memory behind what was read");
    MPI_Type_free(&type);
}

/// Such a datatype in another one, in a view and in memory.
inline void types_without_names() {
    std::string const name = check::path("nameless" + std::to_string(check::rank()) + ".bin");
    MPI_Datatype real = MPI_DATATYPE_NULL, three = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real);
    MPI_Type_contiguous(3, real, &three);
    MPI_Type_commit(&three);
    MPI_File file = MPI_FILE_NULL;
    check::ok(MPI_File_open(MPI_COMM_SELF, name.c_str(),
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file));
    check::ok(MPI_File_set_view(file, 0, real, three, "native", MPI_INFO_NULL));
    std::array<float, 6> const values{1, 2, 3, 4, 5, 6};
    std::array<float, 6> found{};
    check::ok(MPI_File_write_at_all(file, 0, values.data(), 2, three, MPI_STATUS_IGNORE));
    check::ok(MPI_File_read_at_all(file, 0, found.data(), 6, real, MPI_STATUS_IGNORE));
    check::is_true(found == values, "reals read again");
    check::ok(MPI_File_close(&file));
    MPI_Type_free(&three);
}

}  // namespace datatypes
