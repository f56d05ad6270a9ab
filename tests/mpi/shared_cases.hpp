// Errors, many files and many threads: cases of shared_test in which several pointers or several
// callers could get in each other's way.
#pragma once
#include "shared_calls.hpp"

#include <thread>

namespace shared_calls {

/// Each has a pointer of its own, also those of one communicator, and one that is opened again.
inline void several_files() {
    MPI_Comm other = MPI_COMM_NULL, half = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_split(MPI_COMM_WORLD, check::rank() % 2, -check::rank(), &half);
    MPI_Comm const communicators[] = {MPI_COMM_WORLD, other, MPI_COMM_WORLD, half};
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i)
        names.push_back(check::path("several" + std::to_string(i) +
                                    (i == 3 ? "." + std::to_string(check::rank() % 2) : "")));
    std::vector<std::vector<Words>> expected(4);
    for (int round = 0; round < 3; ++round) {
        std::vector<MPI_File> files;
        for (std::size_t i = 0; i < 4; ++i) {
            files.push_back(open(names[i], MPI_MODE_RDWR | MPI_MODE_CREATE, communicators[i]));
            set_view_of_words(files[i], 0);
            check::is_equal(MPI_Offset{0}, shared_position(files[i]), "right after the open");
        }
        meet();
        for (int number = 0; number < 8; ++number) {
            auto const i = static_cast<std::size_t>(number % 4);
            auto const record = record_of(check::rank(), number);
            check::ok(MPI_File_write_ordered(files[i], record.data(), size_of_words(record),
                                             MPI_UINT32_T, MPI_STATUS_IGNORE));
        }
        for (auto& file : files) close(file);
    }
    meet();
    for (std::size_t i = 0; i < 4; ++i) {
        int rank = 0, size = 0;
        MPI_Comm_rank(communicators[i], &rank);
        MPI_Comm_size(communicators[i], &size);
        std::vector<int> ranks(static_cast<std::size_t>(size));
        int const mine = check::rank();
        MPI_Allgather(&mine, 1, MPI_INT, ranks.data(), 1, MPI_INT, communicators[i]);
        Words all;
        for (int number = static_cast<int>(i); number < 8; number += 4)
            for (int const r : ranks) {
                auto const record = record_of(r, number);
                all.insert(all.end(), record.begin(), record.end());
            }
        if (rank == 0) {
            check::is_true(words_of(check::posix_read(names[i])) == all, names[i]);
            ::unlink(names[i].c_str());
        }
    }
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
    meet();
}

inline void expect_error(int expected, int code, check::Where where = check::Where::current()) {
    check::is_equal(check::class_name(expected), check::class_name(check::class_of(code)), "class",
                    where);
}

/// After any of them the pointer is where it was, and in calls of all ranks all get the error.
inline void errors() {
    auto const name = new_file(100);
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    check::ok(MPI_File_seek_shared(file, 7, MPI_SEEK_SET));
    auto const data = record_of(0, 0);
    bool const last = check::rank() == check::size() - 1;
    auto const stays = [&] { expect_position(file, 7, "after an error"); };
    MPI_Status status{};
    MPI_Request request = MPI_REQUEST_NULL;
    expect_error(MPI_ERR_COUNT,
                 MPI_File_write_shared(file, data.data(), -1, MPI_UINT32_T, &status));
    expect_error(MPI_ERR_TYPE,
                 MPI_File_write_shared(file, data.data(), 1, MPI_DATATYPE_NULL, &status));
    expect_error(MPI_ERR_ARG, MPI_File_write_shared(file, data.data(), 3, MPI_BYTE, &status));
    expect_error(MPI_ERR_COUNT,
                 MPI_File_iwrite_shared(file, data.data(), -1, MPI_UINT32_T, &request));
    stays();
    expect_error(MPI_ERR_COUNT,
                 MPI_File_write_ordered(file, data.data(), last ? -1 : 2, MPI_UINT32_T, &status));
    stays();
    check::ok(MPI_File_write_ordered_begin(file, data.data(), last ? -1 : 2, MPI_UINT32_T));
    expect_error(MPI_ERR_COUNT, MPI_File_write_ordered_end(file, data.data(), &status));
    stays();
    if (check::size() > 1) {
        expect_error(MPI_ERR_NOT_SAME, MPI_File_seek_shared(file, last ? 1 : 2, MPI_SEEK_SET));
        expect_error(MPI_ERR_NOT_SAME,
                     MPI_File_seek_shared(file, 1, last ? MPI_SEEK_SET : MPI_SEEK_CUR));
    }
    expect_error(MPI_ERR_ARG, MPI_File_seek_shared(file, -1, MPI_SEEK_SET));
    expect_error(MPI_ERR_ARG, MPI_File_seek_shared(file, -8, MPI_SEEK_CUR));
    expect_error(MPI_ERR_ARG, MPI_File_seek_shared(file, MPI_Offset{1} << 61, MPI_SEEK_SET));
    expect_error(MPI_ERR_ARG, MPI_File_seek_shared(file, 1, 12345));
    stays();
    close(file);
    file = open(name, MPI_MODE_RDONLY);
    expect_error(MPI_ERR_READ_ONLY, MPI_File_write_shared(file, data.data(), 4, MPI_BYTE, &status));
    expect_error(MPI_ERR_READ_ONLY,
                 MPI_File_write_ordered(file, data.data(), 4, MPI_BYTE, &status));
    expect_position(file, 0, "after an error");
    close(file);
    remove(name);
}

/// A call that would reach beyond what offsets can say does not move the pointer, whoever makes it.
inline void too_far() {
    auto const name = new_file(100);
    MPI_File file = open(name);
    set_view_of_words(file, 0, 1, 1);
    MPI_Offset const far = (MPI_Offset{1} << 58) - 2;
    check::ok(MPI_File_seek_shared(file, far, MPI_SEEK_SET));
    Words const data(4);
    MPI_Status status{};
    expect_error(MPI_ERR_ARG, MPI_File_write_shared(file, data.data(), 4, MPI_UINT32_T, &status));
    expect_error(MPI_ERR_ARG, MPI_File_write_ordered(file, data.data(), 4, MPI_UINT32_T, &status));
    expect_position(file, far, "after an error");
    close(file);
    remove(name);
}

/// Threads of all ranks on one pointer, and meanwhile calls in order on a file of each thread.
inline void threads() {
    if (check::state().provided != MPI_THREAD_MULTIPLE) return;
    constexpr int many = 3, count = 40;
    auto const name = new_file(0);
    MPI_File file = open(name);
    set_view_of_words(file, 0);
    std::vector<MPI_File> own;
    for (int t = 0; t < many; ++t) {
        own.push_back(open(check::path("own" + std::to_string(t))));
        set_view_of_words(own.back(), 0);
    }
    auto const work = [&](int t) {
        for (int number = 0; number < count; ++number) {
            auto const record = record_of(check::rank() * many + t, number);
            check::ok(MPI_File_write_shared(file, record.data(), size_of_words(record),
                                            MPI_UINT32_T, MPI_STATUS_IGNORE));
            if (number % 4 == 0)
                check::ok(MPI_File_write_ordered(own[static_cast<std::size_t>(t)], record.data(),
                                                 size_of_words(record), MPI_UINT32_T,
                                                 MPI_STATUS_IGNORE));
        }
    };
    std::vector<std::thread> all;
    for (int t = 0; t < many; ++t) all.emplace_back(work, t);
    for (auto& thread : all) thread.join();
    for (auto& each : own) close(each);
    close(file);
    meet();
    for (int t = 0; t < many && check::rank() == 0; ++t) {
        Words expected;
        for (int number = 0; number < count; number += 4)
            for (int r = 0; r < check::size(); ++r) {
                auto const record = record_of(r * many + t, number);
                expected.insert(expected.end(), record.begin(), record.end());
            }
        auto const path = check::path("own" + std::to_string(t));
        check::is_true(words_of(check::posix_read(path)) == expected, path);
        ::unlink(path.c_str());
    }
    if (check::rank() == 0)
        expect_records(words_of(check::posix_read(name)), check::size() * many, count, true);
    remove(name);
}

}  // namespace shared_calls
