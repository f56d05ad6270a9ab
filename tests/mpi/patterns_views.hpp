// Several views and calls on one open file: complementary holes, appending by the file pointer,
// changed views, other representations, and calls that are not collective in between.
#pragma once
#include "patterns_cases.hpp"

namespace patterns {

using namespace access_form;

/// Writes this rank's part in the file, and every rank's part in the model.
inline void write_both(MPI_File file, Form form, model::File& expected, int op,
                       std::function<Request(int)> const& request_of) {
    for (int r = 0; r < check::size(); ++r) {
        auto const request = request_of(r);
        expected.write(request.in_file(), model::data_of(2, r, op, request.bytes()));
    }
    auto const mine = request_of(check::rank());
    auto memory = memory_with(mine, model::data_of(2, check::rank(), op, mine.bytes()));
    transfer(file, form, Direction::write, mine, memory, mine.bytes());
}

/// Two views whose holes are each other's data, and a third one that leaves holes in both.
inline void complementary_views(Form form) {
    auto const name = check::fresh_file("views.bin", 5000);
    model::File expected(5000);
    MPI_File file = open(name);
    int const ranks = check::size();
    for (int half = 0; half < 3; ++half) {
        auto const request_of = [=](int rank) -> Request {
            std::int64_t const start = 24 * rank + (half == 1 ? 12 : 0);
            int const taken = half == 2 ? 2 : 3;
            Layout const mine =
                model::resized(model::vector(element(MPI_INT), 1, taken, taken), 24 * ranks);
            return {{start, MPI_INT, mine}, half == 2 ? 10 : 0, element(MPI_INT), 300};
        };
        set_view(file, request_of(check::rank()).view);
        write_both(file, form, expected, half, request_of);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// Many calls that append by the individual pointer, with no seek, as a checkpoint does.
inline void append_by_pointer(bool nonblocking) {
    auto const name = check::fresh_file("views.bin", 0);
    model::File expected;
    MPI_File file = open(name);
    int const ranks = check::size();
    set_view(file, strided(check::rank(), ranks).view);
    std::int64_t done = 0;
    for (int op = 0; op < 12; ++op) {
        int const count = 7 * op + 5;
        model::Bytes data;
        for (int r = 0; r < ranks; ++r) {
            Request const request{strided(r, ranks).view, done, element(MPI_INT), count};
            auto const part = model::data_of(2, r, op, request.bytes());
            expected.write(request.in_file(), part);
            if (r == check::rank()) data = part;
        }
        MPI_Status status{};
        MPI_Request handle = MPI_REQUEST_NULL;
        if (nonblocking) {
            check::ok(MPI_File_iwrite_all(file, data.data(), count, MPI_INT, &handle));
            done += count;
            check::is_equal(static_cast<MPI_Offset>(done), position(file), "pointer while open");
            check::ok(MPI_Wait(&handle, &status));
        } else {
            check::ok(MPI_File_write_all(file, data.data(), count, MPI_INT, &status));
            done += count;
        }
        check::is_equal(static_cast<MPI_Offset>(done), position(file), "file pointer");
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// Ranks take turns to move their pointers by different amounts with the same arguments.
inline void unequal_pointers(Form form) {
    auto const name = check::fresh_file("views.bin", 0);
    model::File expected;
    MPI_File file = open(name);
    int const ranks = check::size();
    for (int op = 0; op < 6; ++op) {
        write_both(file, form, expected, op, [=](int rank) -> Request {
            int const shift = op % 2 == 0 ? rank : (rank + op) % ranks;
            return {{}, (op * ranks + shift) * 1000, element(MPI_BYTE), 1000};
        });
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// Reads and writes by one rank alone, and the size of the file, between collective calls.
inline void independent_between() {
    auto const name = check::fresh_file("views.bin", 100);
    model::File expected(100);
    MPI_File file = open(name);
    int const ranks = check::size();
    write_both(file, Form::iat_all, expected, 0,
               [](int rank) -> Request { return {{}, rank * 500, element(MPI_BYTE), 500}; });
    model::Bytes mine(500);
    auto const at = MPI_Offset{500} * check::rank();
    check::ok(MPI_File_read_at(file, at, mine.data(), 500, MPI_BYTE, MPI_STATUS_IGNORE));
    check::same_bytes(model::data_of(2, check::rank(), 0, 500), mine, "own data, read alone");
    auto const own = model::data_of(2, check::rank(), 7, 10);
    check::ok(MPI_File_write_at(file, at + 200, own.data(), 10, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int r = 0; r < ranks; ++r) {
        expected.write({{500 * r + 200, 10}}, model::data_of(2, r, 7, 10));
    }
    check::ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset bytes = 0;
    check::ok(MPI_File_get_size(file, &bytes));
    check::is_equal(static_cast<MPI_Offset>(500 * ranks), bytes, "size of the file");
    read_and_compare(file, Form::iat_all, {{}, 0, element(MPI_BYTE), 500 * ranks},
                     expected.read({{0, 500 * ranks}}));
    close(file);
    check::compare_and_remove(name, expected);
}

/// external32 is big-endian on every machine.
inline void external32(Form form) {
    auto const name = check::fresh_file("views.bin", 0);
    MPI_File file = open(name);
    Layout const mine = model::resized(element(MPI_INT), 4 * check::size());
    View const view{4 * check::rank(), MPI_INT, mine};
    set_view(file, view, "external32");
    model::Bytes memory(400), swapped;
    for (int i = 0; i < 100; ++i) {
        std::int32_t const value = 0x01020304 + i * check::size() + check::rank();
        std::memcpy(memory.data() + 4 * i, &value, 4);
    }
    auto const before = memory;
    Request const request{view, 0, element(MPI_INT), 100};
    transfer(file, form, Direction::write, request, memory, 400);
    check::same_bytes(before, memory, "memory after the write");
    read_and_compare(file, form, request, before);
    close(file);
    for (int i = 0; i < 100 * check::size(); ++i) {
        auto const value = static_cast<std::uint32_t>(0x01020304 + i);
        for (unsigned shift = 32; shift > 0; shift -= 8) {
            swapped.push_back(static_cast<unsigned char>(value >> (shift - 8)));
        }
    }
    model::File expected;
    expected.write({{0, static_cast<std::int64_t>(swapped.size())}}, swapped);
    check::compare_and_remove(name, expected);
}

/// In atomic mode the last of two overlapping calls that follow each other must win.
inline void atomic_mode() {
    auto const name = check::fresh_file("views.bin", 4000);
    model::File expected(4000);
    MPI_File file = open(name);
    check::ok(MPI_File_set_atomicity(file, 1));
    for (int op = 0; op < 2; ++op) {
        write_both(file, op == 0 ? Form::at_all : Form::iat_all, expected, op,
                   [op](int rank) -> Request {
                       return {{}, rank * 1000 + 300 * op, element(MPI_BYTE), 1000};
                   });
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// The library must not need the types after the calls that took them. (MPICH 5.0.2 does.)
inline void types_freed_at_once() {
    auto const name = check::fresh_file("views.bin", 0);
    model::File expected;
    MPI_File file = open(name);
    std::vector<MPI_Request> requests(4, MPI_REQUEST_NULL);
    std::vector<model::Bytes> data;
    int const ranks = check::size();
    for (int op = 0; op < 4; ++op) data.push_back(model::data_of(2, check::rank(), op, 640));
    for (int op = 0; op < 4; ++op) {
        Layout const memory = model::vector(element(MPI_INT), 10, 4, 4);
        model::Type type(memory);
        Layout const mine = model::resized(element(MPI_INT), 4 * ranks);
        set_view(file, {2560 * ranks * op + 4 * check::rank(), MPI_INT, mine});
        check::ok(MPI_File_iwrite_at_all(file, 0, data[static_cast<std::size_t>(op)].data(), 4,
                                         type.get(), &requests[static_cast<std::size_t>(op)]));
        type.free();
        // The view may only change when no operation of the old one is left.
        check::ok(MPI_Wait(&requests[static_cast<std::size_t>(op)], MPI_STATUS_IGNORE));
        for (int r = 0; r < ranks; ++r) {
            Request const request{{2560 * ranks * op + 4 * r, MPI_INT, mine}, 0, memory, 4};
            expected.write(request.in_file(), model::data_of(2, r, op, 640));
        }
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// As many bytes as the span has, but the ranks all want the same pieces: what lies between must
/// stay. All bring the same bytes, as overlapping writes have to.
inline void overlaps_hide_holes(Form form) {
    constexpr std::int64_t piece = 120, rows = 300;
    int const ranks = check::size();
    Layout const row = model::resized(model::contiguous(element(MPI_BYTE), piece), piece * ranks);
    Request const request{{56, MPI_BYTE, row}, 0, element(MPI_BYTE), piece * rows};
    auto const data = model::data_of(3, 0, 0, request.bytes());
    auto memory = memory_with(request, data);
    auto const name = check::fresh_file("views.bin", 2000);
    model::File expected(2000);
    expected.write(request.in_file(), data);
    MPI_File file = open(name);
    set_view(file, request.view);
    transfer(file, form, Direction::write, request, memory, request.bytes());
    close(file);
    check::compare_and_remove(name, expected);
}

inline std::vector<check::Test> view_tests() {
    std::vector<check::Test> tests;
    for (Form const form : {Form::all, Form::iall, Form::at_all, Form::iat_all}) {
        std::string const suffix = std::string("/") + name_of(form);
        tests.push_back({"complementary_views" + suffix, [=] { complementary_views(form); }});
        tests.push_back({"unequal_pointers" + suffix, [=] { unequal_pointers(form); }});
        tests.push_back({"overlaps_hide_holes" + suffix, [=] { overlaps_hide_holes(form); }});
        tests.push_back({"external32" + suffix, [=] { external32(form); }});
    }
    tests.push_back({"append_by_pointer/all", [] { append_by_pointer(false); }});
    tests.push_back({"append_by_pointer/iall", [] { append_by_pointer(true); }});
    tests.push_back({"independent_between", independent_between});
    tests.push_back({"atomic_mode", atomic_mode});
    tests.push_back({"types_freed_at_once", types_freed_at_once});
    return tests;
}

}  // namespace patterns
