// Legal use of many files: on parts of the ranks, many at once, opened and closed again and again,
// left open at the end, and used by two threads at once.
#pragma once
#include "access.hpp"

#include <thread>

namespace legal {

using namespace access_form;

/// Writes `bytes` a rank on any communicator, nonblocking, waits, reads back, closes, compares.
/// Checks only with the communicator's own ranks, so that it can run on several at once.
inline void use_file(MPI_Comm comm, std::string const& name, int bytes, int op) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank == 0) ::unlink(name.c_str());  // an interrupted run may have left it
    MPI_Barrier(comm);
    MPI_File file = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, comm);
    auto const data = model::data_of(7, rank, op, bytes);
    auto const at = static_cast<MPI_Offset>(rank) * bytes;
    MPI_Request handle = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_at_all(file, at, data.data(), bytes, MPI_BYTE, &handle));
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    model::Bytes back(data.size());
    check::ok(MPI_File_read_at_all(file, at, back.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    check::same_bytes(data, back, "read back");
    close(file);
    MPI_Barrier(comm);
    if (rank == 0) {
        model::File expected;
        for (int r = 0; r < ranks; ++r) {
            expected.write({{static_cast<std::int64_t>(r) * bytes, bytes}},
                           model::data_of(7, r, op, bytes));
        }
        check::same_bytes(expected.bytes(), check::posix_read(name), name);
        ::unlink(name.c_str());
    }
    MPI_Barrier(comm);
}

/// Two halves, each with its own file and its own number of calls.
inline void split_halves() {
    MPI_Comm half = MPI_COMM_NULL;
    int const which = check::rank() % 2;
    MPI_Comm_split(MPI_COMM_WORLD, which, -check::rank(), &half);
    for (int op = 0; op < 3 + 4 * which; ++op) {
        use_file(half, check::path("half" + std::to_string(which) + ".bin"), 3333, op);
    }
    MPI_Comm_free(&half);
}

inline void self_files() {
    auto const name = check::path("self" + std::to_string(check::rank()) + ".bin");
    for (int op = 0; op < 1 + check::rank() % 3; ++op) use_file(MPI_COMM_SELF, name, 7777, op);
}

/// The communicator is freed while the file is open, as MPI allows.
inline void freed_communicator() {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    auto const name = check::fresh_file("freed.bin", 0);
    MPI_File file = open(name, MPI_MODE_RDWR, copy);
    auto const data = model::data_of(7, check::rank(), 0, 500);
    auto const at = MPI_Offset{500} * check::rank();
    MPI_Request handle = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_at_all(file, at, data.data(), 500, MPI_BYTE, &handle));
    MPI_Comm_free(&copy);
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    check::ok(MPI_File_write_at_all(file, at, data.data(), 500, MPI_BYTE, MPI_STATUS_IGNORE));
    close(file);
    model::File expected;
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{500 * r, 500}}, model::data_of(7, r, 0, 500));
    }
    check::compare_and_remove(name, expected);
}

/// Files of the world, of halves and of single ranks, all with operations outstanding at once.
inline void nested_communicators() {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, check::rank() % 2, 0, &half);
    std::string const halfname = "n_half" + std::to_string(check::rank() % 2);
    std::string const names[] = {check::path("n_world.bin"), check::path(halfname),
                                 check::path("n_self" + std::to_string(check::rank()))};
    MPI_Comm const comms[] = {MPI_COMM_WORLD, half, MPI_COMM_SELF};
    MPI_File files[3];
    MPI_Request handles[]{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    auto const data = model::data_of(7, check::rank(), 0, 9000);
    for (int i = 0; i < 3; ++i)
        files[i] = open(names[i], MPI_MODE_RDWR | MPI_MODE_CREATE, comms[i]);
    for (int k = 0; k < 3; ++k) {
        int const i = (k + check::rank()) % 3;  // starting is local, so any order is right
        int rank = 0;
        MPI_Comm_rank(comms[i], &rank);
        check::ok(MPI_File_iwrite_at_all(files[i], 9000 * static_cast<MPI_Offset>(rank),
                                         data.data(), 9000, MPI_BYTE, &handles[i]));
    }
    check::ok(MPI_Waitall(3, handles, MPI_STATUSES_IGNORE));
    for (auto& file : files) close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    check::same_bytes(data, check::posix_read(names[2]), "own file");
    auto const world = check::posix_read(names[0]);
    check::is_equal(9000U * static_cast<unsigned>(check::size()), world.size(), "world's file");
    auto const part = std::span(world).subspan(9000U * static_cast<unsigned>(check::rank()), 9000);
    check::same_bytes(data, part, "part of the world's file");
    MPI_Barrier(MPI_COMM_WORLD);
    for (auto const& name : names) ::unlink(name.c_str());
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
}

inline void many_files() {
    constexpr int count = 20;
    std::vector<MPI_File> files;
    std::vector<std::string> names;
    std::vector<MPI_Request> handles(count, MPI_REQUEST_NULL);
    std::vector<model::Bytes> data;
    for (int f = 0; f < count; ++f) {
        names.push_back(check::fresh_file("many" + std::to_string(f), 5));
        files.push_back(open(names.back()));
        data.push_back(model::data_of(7, check::rank(), f, 2000));
    }
    for (int k = 0; k < count; ++k) {
        auto const f = static_cast<std::size_t>((k + 3 * check::rank()) % count);
        check::ok(MPI_File_iwrite_at_all(files[f], 2000 * static_cast<MPI_Offset>(check::rank()),
                                         data[f].data(), 2000, MPI_BYTE, &handles[f]));
    }
    check::ok(MPI_Waitall(count, handles.data(), MPI_STATUSES_IGNORE));
    for (int f = 0; f < count; ++f) {
        close(files[static_cast<std::size_t>(f)]);
        model::File expected(5);
        for (int r = 0; r < check::size(); ++r) {
            expected.write({{2000 * r, 2000}}, model::data_of(7, r, f, 2000));
        }
        check::compare_and_remove(names[static_cast<std::size_t>(f)], expected);
    }
}

/// The number of open descriptors must not grow, nor the number of communicators run out.
inline void open_and_close() {
    auto const name = check::fresh_file("again.bin", 0);
    auto const data = model::data_of(7, check::rank(), 0, 64);
    for (int turn = 0; turn < 200; ++turn) {
        MPI_File file = open(name);
        if (turn % 3 != 2) {
            check::ok(MPI_File_write_at_all(file, 64 * static_cast<MPI_Offset>(check::rank()),
                                            data.data(), 64, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        close(file);
    }
    model::File expected;
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{64 * r, 64}}, model::data_of(7, r, 0, 64));
    }
    check::compare_and_remove(name, expected);
}

/// The data of a file that is never closed must be there, and MPI_Finalize must return. (Not
/// closing is an error of the program that MPIs tolerate.)
inline void left_open() {
    auto const name = check::fresh_file("left_open.bin", 0);
    MPI_File const file = open(name);
    auto const data = model::data_of(7, check::rank(), 0, 1000);
    check::ok(MPI_File_write_at_all(file, 1000 * static_cast<MPI_Offset>(check::rank()),
                                    data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    model::File expected;
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{1000 * r, 1000}}, model::data_of(7, r, 0, 1000));
    }
    check::compare_and_remove(name, expected);
}

/// Two threads of each rank, each with its own communicator and file. (The files are opened and
/// closed by one thread: MPICH 5.0.2 holds one lock while it opens or accesses a file, so that
/// threads which do so in different order on different ranks deadlock.)
inline void two_threads() {
    if (check::state().provided < MPI_THREAD_MULTIPLE) return;
    constexpr int bytes = 20000;
    MPI_Comm comms[2];
    MPI_File files[2];
    std::string names[2];
    for (int which = 0; which < 2; ++which) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[which]);
        names[which] = check::fresh_file("thread" + std::to_string(which), 0);
        files[which] = open(names[which], MPI_MODE_RDWR, comms[which]);
    }
    auto const place = [](int rank, int op) {
        return static_cast<MPI_Offset>(op * check::size() + rank) * bytes;
    };
    auto const work = [&](int which) {
        for (int op = 0; op < 10; ++op) {
            auto const data = model::data_of(7, check::rank(), which * 10 + op, bytes);
            model::Bytes back(data.size());
            auto const at = place(check::rank(), op);
            MPI_Request handle = MPI_REQUEST_NULL;
            check::ok(
                MPI_File_iwrite_at_all(files[which], at, data.data(), bytes, MPI_BYTE, &handle));
            check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
            check::ok(MPI_File_read_at_all(files[which], at, back.data(), bytes, MPI_BYTE,
                                           MPI_STATUS_IGNORE));
            check::same_bytes(data, back, "read back");
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    for (int which = 0; which < 2; ++which) {
        close(files[which]);
        MPI_Comm_free(&comms[which]);
        model::File expected;
        for (int op = 0; op < 10; ++op) {
            for (int r = 0; r < check::size(); ++r) {
                expected.write({{place(r, op), bytes}},
                               model::data_of(7, r, which * 10 + op, bytes));
            }
        }
        check::compare_and_remove(names[which], expected);
    }
}

inline std::vector<check::Test> file_tests() {
    return {{"split_halves", split_halves},
            {"self_files", self_files},
            {"freed_communicator", freed_communicator},
            {"nested_communicators", nested_communicators},
            {"many_files", many_files},
            {"open_and_close", open_and_close},
            {"two_threads", two_threads},
            {"left_open", left_open}};
}

}  // namespace legal
