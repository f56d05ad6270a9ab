// The main part of every test program here: reads the options, starts MPI, runs the sub-tests and
// prints the outcome. Included at the end of check.hpp.
#pragma once
#include "check.hpp"

namespace check {

inline void usage(std::string_view program) {
    std::printf("%.*s [-v] [--list] [--dir DIR] [--only NAME,..] [--skip NAME,..] [--repeat N]\n"
                "    [--large-mib N] [--thread-level 0..3] [--full|--quota DIR] [--plain]\n"
                "    [--hints NAME=VALUE;...]\n",
                static_cast<int>(program.size()), program.data());
}

inline bool parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        std::string_view const name = argv[i];
        if (name == "-v") {
            options.verbose = true;
            continue;
        }
        if (name == "--list") {
            options.list = true;
            continue;
        }
        if (name == "--plain") {
            options.plain = true;
            continue;
        }
        if (i + 1 == argc) return false;
        std::string const value = argv[++i];
        if (name == "--dir")
            options.dir = value;
        else if (name == "--only")
            options.only = value;
        else if (name == "--skip")
            options.skip = value;
        else if (name == "--full")
            options.full_dir = value;
        else if (name == "--quota")
            options.full_dir = value, options.over_quota = true;
        else if (name == "--hints")
            options.hints = value;
        else if (name == "--repeat")
            options.repeat = std::stoi(value);
        else if (name == "--large-mib")
            options.large_mib = std::stoi(value);
        else if (name == "--thread-level")
            options.thread_level = std::stoi(value);
        else
            return false;
    }
    return true;
}

/// True if the name contains one of the comma-separated words.
inline bool matches(std::string_view words, std::string_view name) {
    while (!words.empty()) {
        auto const comma = std::min(words.find(','), words.size());
        auto const word = words.substr(0, comma);
        if (!word.empty() && name.find(word) != std::string_view::npos) return true;
        words.remove_prefix(std::min(comma + 1, words.size()));
    }
    return false;
}

inline void start_mpi(int& argc, char**& argv) {
    int const levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    auto& s = state();
    if (s.options.thread_level < 0) {
        MPI_Init(&argc, &argv);
        MPI_Query_thread(&s.provided);
    } else {
        MPI_Init_thread(&argc, &argv, levels[s.options.thread_level % 4], &s.provided);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
}

/// Runs one sub-test on all ranks; returns whether every rank found it right.
inline bool run_test(Test const& test) {
    auto& s = state();
    s.test = test.name;
    s.failures = 0;
    double const start = MPI_Wtime();
    test.run();
    int failures = 0;
    MPI_Allreduce(&s.failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (s.rank == 0 && (s.options.verbose || failures != 0)) {
        std::printf("%-44s %s %6.2f s\n", test.name.c_str(), failures == 0 ? "ok    " : "FAILED",
                    MPI_Wtime() - start);
        std::fflush(stdout);
    }
    return failures == 0;
}

inline int run_suite(int argc, char** argv, std::string_view program,
                     std::function<std::vector<Test>()> const& make_tests) {
    auto& s = state();
    if (!parse(argc, argv, s.options)) return usage(program), 2;
    start_mpi(argc, argv);
    int run = 0, failed = 0;
    for (auto const& test : make_tests()) {
        if (!s.options.only.empty() && !matches(s.options.only, test.name)) continue;
        if (matches(s.options.skip, test.name)) continue;
        if (s.options.list) {
            if (s.rank == 0) std::printf("%s\n", test.name.c_str());
            continue;
        }
        for (int i = 0; i < s.options.repeat; ++i) {
            ++run;
            if (!run_test(test)) ++failed;
        }
    }
    if (s.rank == 0 && !s.options.list) {
        std::printf("%.*s: %d sub-tests on %d ranks, %d failed\n", static_cast<int>(program.size()),
                    program.data(), run, s.size, failed);
        std::fflush(stdout);
    }
    for (MPI_Datatype& type : s.types) MPI_Type_free(&type);
    MPI_Finalize();
    return failed == 0 ? 0 : 1;
}

}  // namespace check
