// Datatypes that are freed, made anew, duplicated and shared between threads: what the library
// keeps of them must never be that of another one. Each sub-test packs its memory by itself and
// compares the file with that.
#include "access.hpp"
#include "datatypes_representation.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace {

using Bytes = std::vector<unsigned char>;
using datatypes::Opened;

/// Pieces of one rank's memory, at random places, in random order.
struct Pieces {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    int bytes = 0, memory_bytes = 0;
};

Pieces draw_pieces(std::mt19937& random, int count) {
    Pieces all;
    std::uniform_int_distribution<int> const any(0, 6);
    auto draw = any;
    for (int i = 0; i < count; ++i) {
        int const length = 1 + draw(random);
        all.places.push_back(all.memory_bytes + draw(random));
        all.lengths.push_back(length);
        all.memory_bytes += length + 7;
        all.bytes += length;
    }
    for (std::size_t i = all.places.size(); i-- > 1;) {
        std::size_t const other = random() % (i + 1);
        std::swap(all.places[i], all.places[other]);
        std::swap(all.lengths[i], all.lengths[other]);
    }
    return all;
}

MPI_Datatype type_of(Pieces const& pieces) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(pieces.places.size()), pieces.lengths.data(),
                             pieces.places.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

Bytes packed(Pieces const& pieces, Bytes const& memory) {
    Bytes all;
    for (std::size_t i = 0; i < pieces.places.size(); ++i) {
        auto const from = memory.begin() + pieces.places[i];
        all.insert(all.end(), from, from + pieces.lengths[i]);
    }
    return all;
}

Bytes draw_memory(std::mt19937& random, Pieces const& pieces) {
    Bytes memory(static_cast<std::size_t>(pieces.memory_bytes) + 8);
    for (auto& byte : memory) byte = static_cast<unsigned char>(random());
    return memory;
}

/// Random numbers that differ between ranks and sub-tests.
std::mt19937 numbers(unsigned test) {
    return std::mt19937(test * 1000 + static_cast<unsigned>(check::rank()));
}

/// Each rank has a part of the file of its own.
constexpr MPI_Offset part_bytes = 1 << 20;
MPI_Offset own_part() { return check::rank() * part_bytes; }

void compare(MPI_File file, Bytes const& expected, std::string_view what) {
    Bytes found(expected.size());
    MPI_File_sync(file);
    MPI_File_read_at(file, own_part(), found.data(), static_cast<int>(found.size()), MPI_BYTE,
                     MPI_STATUS_IGNORE);
    check::is_true(found == expected, what);
}

/// Handles are used again for other types, by calls of both kinds.
void handles_are_reused(int pieces_a_type) {
    auto random = numbers(1);
    Opened const opened("reused.bin");
    for (int attempt = 0; attempt < 60; ++attempt) {
        Pieces const pieces = draw_pieces(random, pieces_a_type);
        Bytes const memory = draw_memory(random, pieces);
        MPI_Datatype type = type_of(pieces);
        if (attempt % 2 == 0) {
            check::ok(MPI_File_write_at_all(opened.file, own_part(), memory.data(), 1, type,
                                            MPI_STATUS_IGNORE));
            MPI_Type_free(&type);
        } else {
            MPI_Request request = MPI_REQUEST_NULL;
            check::ok(
                MPI_File_iwrite_at_all(opened.file, own_part(), memory.data(), 1, type, &request));
            MPI_Type_free(&type);
            MPI_Datatype other = type_of(draw_pieces(random, pieces_a_type));  // The same handle.
            check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            MPI_Type_free(&other);
        }
        compare(opened.file, packed(pieces, memory), "bytes of a type with a new handle");
    }
}

/// Equal types, made anew for each call; and a long one that only its last place tells apart.
void made_anew() {
    auto random = numbers(2);
    Opened const opened("anew.bin");
    Pieces pieces = draw_pieces(random, 20000);
    Bytes const memory = draw_memory(random, pieces);
    for (int attempt = 0; attempt < 12; ++attempt) {
        if (attempt % 3 == 2) pieces.places.back() = static_cast<MPI_Aint>(random() % 1000);
        MPI_Datatype type = type_of(pieces);
        MPI_Request request = MPI_REQUEST_NULL;
        check::ok(
            MPI_File_iwrite_at_all(opened.file, own_part(), memory.data(), 1, type, &request));
        MPI_Type_free(&type);
        check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        compare(opened.file, packed(pieces, memory), "bytes of an equal type");
    }
}

void check_write(MPI_File file, MPI_Datatype type, Bytes const& memory, Bytes const& expected,
                 std::string_view what) {
    check::ok(MPI_File_write_at_all(file, own_part(), memory.data(), 1, type, MPI_STATUS_IGNORE));
    compare(file, expected, what);
}

/// Duplicates outlive what they were made from; a type of a changed duplicate is another type.
void duplicates() {
    auto random = numbers(3);
    Opened const opened("duplicates.bin");
    Pieces const pieces = draw_pieces(random, 50);
    Bytes const memory = draw_memory(random, pieces);
    Bytes const expected = packed(pieces, memory);
    MPI_Datatype type = type_of(pieces), dup = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL;
    check_write(opened.file, type, memory, expected, "the type itself");
    MPI_Type_dup(type, &dup);
    MPI_Type_free(&type);
    check_write(opened.file, dup, memory, expected, "a duplicate");
    MPI_Type_dup(dup, &again);
    MPI_Type_free(&dup);
    MPI_Datatype other = type_of(draw_pieces(random, 50));
    check_write(opened.file, again, memory, expected, "a duplicate of a duplicate");
    MPI_Datatype twice = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, again, &twice);
    MPI_Type_commit(&twice);
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(again, &lower, &extent);
    Bytes two(memory.size() * 2 + static_cast<std::size_t>(extent));
    for (auto& byte : two) byte = static_cast<unsigned char>(random());
    Bytes both = packed(pieces, two);
    Bytes const second = packed(pieces, Bytes(two.begin() + extent, two.end()));
    both.insert(both.end(), second.begin(), second.end());
    check_write(opened.file, twice, two, both, "two instances of a duplicate");
    for (MPI_Datatype* const left : {&again, &other, &twice}) MPI_Type_free(left);
}

/// One type in a view and in memory, in either representation.
void both_representations() {
    Opened const opened("representations.bin");
    int const n = 300;
    std::vector<int> places, values(2 * n);
    for (int i = 0; i < n; ++i) places.push_back(2 * i + i % 2);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7) + 1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(n, 1, places.data(), MPI_LONG, &type);
    MPI_Type_commit(&type);
    std::vector<long> memory(values.begin(), values.end());
    for (char const* const representation : {"native", "external32", "native"}) {
        check::ok(MPI_File_set_view(opened.file, own_part(), MPI_LONG, type, representation,
                                    MPI_INFO_NULL));
        check::ok(MPI_File_write_at_all(opened.file, 0, memory.data(), 1, type, MPI_STATUS_IGNORE));
        std::vector<long> found(static_cast<std::size_t>(n)), expected;
        for (int const place : places) expected.push_back(memory[static_cast<std::size_t>(place)]);
        check::ok(
            MPI_File_read_at_all(opened.file, 0, found.data(), n, MPI_LONG, MPI_STATUS_IGNORE));
        check::is_true(found == expected, representation);
    }
    MPI_Type_free(&type);
}

/// Views made anew: each file view of a type whose handle another one had.
void views_made_anew() {
    auto random = numbers(4);
    Opened const opened("views.bin");
    for (int attempt = 0; attempt < 40; ++attempt) {
        int const n = 40;
        std::vector<int> places;
        for (int i = 0, at = 0; i < n; ++i) {
            places.push_back(at);
            at += 1 + static_cast<int>(random() % 5);
        }
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_create_indexed_block(n, 1, places.data(), MPI_INT, &type);
        MPI_Type_commit(&type);
        check::ok(
            MPI_File_set_view(opened.file, own_part(), MPI_INT, type, "native", MPI_INFO_NULL));
        MPI_Type_free(&type);
        std::vector<int> values(n), all(static_cast<std::size_t>(places.back()) + 1, -1);
        std::iota(values.begin(), values.end(), attempt * 1000);
        check::ok(MPI_File_set_size(opened.file, 0));
        check::ok(
            MPI_File_write_at_all(opened.file, 0, values.data(), n, MPI_INT, MPI_STATUS_IGNORE));
        check::ok(MPI_File_set_view(opened.file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        Bytes expected(all.size() * sizeof(int));
        for (int i = 0; i < n; ++i) {
            auto const at = static_cast<std::size_t>(places[static_cast<std::size_t>(i)]);
            std::memcpy(expected.data() + at * sizeof(int), &values[static_cast<std::size_t>(i)],
                        sizeof(int));
        }
        compare(opened.file, expected, "the file after a write through a new view");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/// Two threads, two files; one type of both, and equal ones of their own.
void threads() {
    if (check::state().provided != MPI_THREAD_MULTIPLE) return;
    auto random = numbers(5);
    Pieces const pieces = draw_pieces(random, 3000);
    Bytes const memory = draw_memory(random, pieces);
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    Opened const first("thread1.bin"), second("thread2.bin", other);
    for (int attempt = 0; attempt < 10; ++attempt) {
        MPI_Datatype common = type_of(pieces);
        auto const write = [&](MPI_File file) {
            MPI_Datatype own = type_of(pieces);
            for (MPI_Datatype const type : {common, own}) {
                check::ok(MPI_File_write_at_all(file, own_part(), memory.data(), 1, type,
                                                MPI_STATUS_IGNORE));
            }
            MPI_Type_free(&own);
        };
        std::thread beside([&] { write(second.file); });
        write(first.file);
        beside.join();
        MPI_Type_free(&common);
        compare(first.file, packed(pieces, memory), "the file of the first thread");
        compare(second.file, packed(pieces, memory), "the file of the second thread");
    }
    MPI_Comm_free(&other);
}

std::vector<check::Test> tests() {
    return {{"handles/short", [] { handles_are_reused(40); }},
            {"handles/long", [] { handles_are_reused(12000); }},
            {"made_anew", made_anew},
            {"duplicates", duplicates},
            {"representations", both_representations},
            {"external32/longs", datatypes::longs_in_external32},
            {"external32/structures", datatypes::short_read_of_structures},
            {"external32/independent", datatypes::independent_longs},
            {"external32/told", datatypes::what_the_view_tells},
            {"external32/holes", datatypes::longs_with_holes},
            {"external32/single", datatypes::independent_structures},
            {"external32/mixed", datatypes::ranks_mix_calls},
            {"external32/shared", datatypes::shared_pointer},
            {"nameless", datatypes::types_without_names},
            {"views", views_made_anew},
            {"threads", threads}};
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "datatypes_test", tests); }
