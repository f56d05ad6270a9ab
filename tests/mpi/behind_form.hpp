// What the tests of write-behind share: writes of pieces that interleave, and reads of them by
// other handles.
#pragma once
#include "access.hpp"

#include <cstdlib>
#include <string_view>

namespace behind_form {

using access_form::open;

inline constexpr int tag = 11, piece = 64, pieces = 500, bytes = piece * pieces;

inline bool is_delayed() {
    char const* const memory = std::getenv("SLUICE_WRITE_BEHIND");
    return memory && std::string_view(memory) != "0";
}

/// Delayed, for a device that takes its time.
inline bool is_slow() {
    char const* const test = std::getenv("SLUICE_TEST");
    return is_delayed() && test && std::string_view(test).find("device=") != std::string_view::npos;
}

inline void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

/// Piece `place` of each row of `width` pieces.
inline void set_pieces(MPI_File file, int place, int width) {
    MPI_Datatype view = MPI_DATATYPE_NULL, one = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(piece, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, MPI_Aint{piece} * width, &view);
    MPI_Type_commit(&view);
    check::ok(MPI_File_set_view(file, MPI_Offset{piece} * place, MPI_BYTE, view, "native",
                                MPI_INFO_NULL));
    MPI_Type_free(&view);
    MPI_Type_free(&one);
}

inline void expect_pieces(model::File& expected, int place, int width, model::Bytes const& data) {
    for (int i = 0; i < static_cast<int>(data.size()) / piece; ++i) {
        auto const first = data.begin() + std::ptrdiff_t{i} * piece;
        expected.write({{std::int64_t{piece} * (std::int64_t{i} * width + place), piece}},
                       model::Bytes(first, first + piece));
    }
}

inline void write_all(MPI_File file, MPI_Offset at, model::Bytes const& data) {
    check::ok(MPI_File_write_at_all(file, at, data.data(), static_cast<int>(data.size()), MPI_BYTE,
                                    MPI_STATUS_IGNORE));
}

/// Each rank's bytes are read by its neighbour, in `rounds` ways that MPI has for it.
inline void read_by(MPI_File file, MPI_Offset at, model::Bytes const& expected,
                    std::string_view how) {
    model::Bytes found(expected.size());
    MPI_Status status{};
    check::ok(MPI_File_read_at(file, at, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                               &status));
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check::is_equal(static_cast<int>(expected.size()), count, how);
    check::same_bytes(expected, found, how);
}

}  // namespace behind_form
