// sluice_igather_results: each rank brings as many bytes as it has, which only it knows.
#pragma once
#include "collective_legal.hpp"

namespace collective_test {

/// What a rank brings: none, few or many bytes.
inline std::vector<unsigned char> bytes_of(int rank, int round) {
    std::size_t const lengths[] = {0, 1, 1000, 100'000};
    return std::vector<unsigned char>(lengths[static_cast<std::size_t>(rank + round) % 4],
                                      static_cast<unsigned char>(1 + rank * 7 + round));
}

/// Where the results go, of which the root alone looks at anything.
struct Gathered {
    explicit Gathered(MPI_Comm its_communicator, std::size_t its_capacity = 0)
        : communicator(its_communicator),
          memory(its_capacity),
          lengths(static_cast<std::size_t>(check::size()), -1) {}

    /// Returns the code of the start, or of the wait.
    int gather(std::vector<unsigned char> const& mine, int root) {
        sluice_request request = SLUICE_REQUEST_NULL;
        int const code = sluice_igather_results(
            mine.data(), static_cast<MPI_Count>(mine.size()), memory.data(),
            static_cast<MPI_Count>(memory.size()), lengths.data(), root, communicator, &request);
        return code == MPI_SUCCESS ? sluice_wait(request, MPI_STATUS_IGNORE) : code;
    }

    MPI_Comm communicator;
    std::vector<unsigned char> memory;
    std::vector<MPI_Count> lengths;
};

inline std::vector<unsigned char> results_of_all(int round) {
    std::vector<unsigned char> all;
    for (int rank = 0; rank < check::size(); ++rank) {
        auto const mine = bytes_of(rank, round);
        all.insert(all.end(), mine.begin(), mine.end());
    }
    return all;
}

inline void results_of_any_length() {
    Fresh const fresh;
    for (int round = 0; round < 8; ++round) {
        int const root = round % check::size();
        auto expected = results_of_all(round);
        Gathered gathered(fresh.communicator, expected.size() + 10);
        check::ok(gathered.gather(bytes_of(check::rank(), round), root), "gather");
        if (check::rank() != root) continue;
        for (int rank = 0; rank < check::size(); ++rank)
            check::is_equal(static_cast<MPI_Count>(bytes_of(rank, round).size()),
                            gathered.lengths[static_cast<std::size_t>(rank)], "length");
        expected.resize(gathered.memory.size());
        check::is_true(gathered.memory == expected, "one behind the other, and nothing else");
    }
}

/// The root is told, and the lengths with it; the others have brought theirs.
inline void results_that_do_not_fit() {
    Fresh const fresh;
    auto const mine = bytes_of(check::rank(), 2);
    Gathered gathered(fresh.communicator, results_of_all(2).size() - 1);
    int const code = gathered.gather(mine, 0);
    int error_class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    check::is_equal(check::rank() == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, error_class, "class");
    if (check::rank() == 0)
        check::is_equal(static_cast<MPI_Count>(mine.size()), gathered.lengths[0], "own length");
    check::ok(gathered.gather({}, 0), "the next one");
}

inline void results_with_bad_arguments() {
    Fresh const fresh;
    unsigned char byte = 0;
    MPI_Count length = 0;
    sluice_request request = SLUICE_REQUEST_NULL;
    MPI_Comm const with = fresh.communicator;
    auto const gives = [&](int expected, int code) { check::is_equal(expected, code, "code"); };
    gives(MPI_ERR_ARG, sluice_igather_results(&byte, 1, &byte, 1, &length, 0, with, nullptr));
    gives(MPI_ERR_COMM,
          sluice_igather_results(&byte, 1, &byte, 1, &length, 0, MPI_COMM_NULL, &request));
    for (int const root : {-1, check::size()})
        gives(MPI_ERR_ROOT,
              sluice_igather_results(&byte, 1, &byte, 1, &length, root, with, &request));
    gives(MPI_ERR_COUNT, sluice_igather_results(&byte, -1, &byte, 1, &length, 0, with, &request));
    gives(MPI_ERR_ARG, sluice_igather_results(nullptr, 1, &byte, 1, &length, 0, with, &request));
    if (check::rank() == 0) {
        gives(MPI_ERR_ARG,
              sluice_igather_results(&byte, 1, nullptr, 1, &length, 0, with, &request));
        gives(MPI_ERR_ARG, sluice_igather_results(&byte, 1, &byte, 1, nullptr, 0, with, &request));
    }
    check::is_true(request == SLUICE_REQUEST_NULL, "nothing was started");
}

inline std::vector<check::Test> result_tests() {
    return {{"results/any_length", results_of_any_length},
            {"results/do_not_fit", results_that_do_not_fit},
            {"results/bad_arguments", results_with_bad_arguments}};
}

}  // namespace collective_test
