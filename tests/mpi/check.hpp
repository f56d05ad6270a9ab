// The frame of a test program: options, sub-tests, and checks that say rank, line, what was
// expected and what was found. Checks never throw and never leave a collective call out: after a
// failed check a rank goes on, so that the others do not hang.
#pragma once
#include "model.hpp"

#include <mpi.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace check {

using Where = std::source_location;

struct Options {
    std::string dir = ".";
    std::string only;         ///< Comma-separated; sub-tests whose name contains one.
    std::string skip;         ///< The same, left out.
    std::string full_dir;     ///< A file system of a few MiB.
    bool over_quota = false;  ///< It has room, of which the user may use so much.
    std::string hints;        ///< For files that are opened without: name=value;name=value.
    int repeat = 1;
    int large_mib = 24;     ///< A rank, in the large sub-tests.
    int thread_level = -1;  ///< Below zero: MPI_Init; else MPI_Init_thread with level 0 to 3.
    bool verbose = false;
    bool list = false;
    bool plain = false;  ///< Without Sluice: forgives what MPIs leave undefined or wrong.
};

struct State {
    Options options;
    int rank = 0;
    int size = 1;
    int provided = MPI_THREAD_SINGLE;
    std::string test;                 ///< Name of the running sub-test.
    int failures = 0;                 ///< On this rank, in the running sub-test.
    std::mutex mutex;                 ///< Checks may come from two threads.
    std::vector<MPI_Datatype> types;  ///< See free_at_end().
};

inline State& state() {
    static State the_state;
    return the_state;
}
inline int rank() { return state().rank; }
/// A datatype that several sub-tests use.
inline void free_at_end(MPI_Datatype type) { state().types.push_back(type); }
inline int size() { return state().size; }

inline std::string path(std::string_view name) {
    return state().options.dir + "/" + std::string(name);
}

/// Ranks on this host, as the launcher tells; all of them where it tells nothing.
inline int ranks_of_host() {
    for (char const* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
        if (char const* const count = std::getenv(name)) return std::atoi(count);
    }
    return size();
}

/// Whether all ranks share memory, as far as the library is told: settings pretend nodes.
inline bool is_one_node() {
    if (ranks_of_host() < size()) return false;
    char const* const settings = std::getenv("SLUICE_TEST");
    std::string_view const text = settings ? settings : "";
    if (text.find("shared_memory=off") != text.npos) return size() == 1;
    std::string_view const nodes = "ranks_per_node=";
    auto const at = text.find(nodes);
    return at == text.npos || std::atoi(text.data() + at + nodes.size()) >= size();
}

/// Whether operations advance while the program computes: not where the library is told to have no
/// helper.
inline bool has_helper() {
    char const* const settings = std::getenv("SLUICE_TEST");
    return !settings || std::string_view(settings).find("helper=off") == std::string_view::npos;
}

/// More than a few lines of one sub-test help nobody.
inline void fail(std::string const& text, Where where) {
    auto& s = state();
    std::lock_guard const lock(s.mutex);
    if (++s.failures > 5) return;
    std::string_view file = where.file_name();
    file = file.substr(file.rfind('/') + 1);
    std::fprintf(stderr, "rank %d, %.*s:%u, %s: %s\n", s.rank, static_cast<int>(file.size()),
                 file.data(), where.line(), s.test.c_str(), text.c_str());
    std::fflush(stderr);
}

inline bool is_true(bool condition, std::string_view what, Where where = Where::current()) {
    if (!condition) fail(std::string(what) + " does not hold", where);
    return condition;
}

template <class A, class B>
bool is_equal(A const& expected, B const& found, std::string_view what,
              Where where = Where::current()) {
    if (expected == found) return true;
    std::ostringstream text;
    text << what << ": expected " << expected << ", found " << found;
    fail(text.str(), where);
    return false;
}

inline int class_of(int code) {
    int result = MPI_SUCCESS;
    MPI_Error_class(code, &result);
    return result;
}

inline std::string class_name(int error_class) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error_class, text, &length);
    return std::to_string(error_class) + " (" + text + ")";
}

inline bool ok(int code, std::string_view what = "MPI call", Where where = Where::current()) {
    if (code == MPI_SUCCESS) return true;
    fail(std::string(what) + " returned " + class_name(class_of(code)), where);
    return false;
}

/// Compares two byte ranges; says how many bytes differ and where the first one is.
inline bool same_bytes(std::span<unsigned char const> expected,
                       std::span<unsigned char const> found, std::string_view what,
                       Where where = Where::current()) {
    std::size_t const common = std::min(expected.size(), found.size());
    bool const same = common == 0 || std::memcmp(expected.data(), found.data(), common) == 0;
    if (!same) {
        std::size_t first = common, wrong = 0;
        for (std::size_t i = common; i-- > 0;) {
            if (expected[i] != found[i]) first = i, ++wrong;
        }
        std::ostringstream text;
        text << what << ": " << wrong << " of " << common << " bytes differ, first at offset "
             << first << ": expected " << int{expected[first]} << ", found " << int{found[first]};
        fail(text.str(), where);
    }
    return is_equal(expected.size(), found.size(), std::string(what) + ", bytes", where) && same;
}

/// What the file holds, by way of POSIX.
inline model::Bytes posix_read(std::string const& name) {
    model::Bytes bytes;
    int const fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (fd < 0 || ::fstat(fd, &about) != 0) return bytes;
    bytes.resize(static_cast<std::size_t>(about.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
        auto const got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    ::close(fd);
    return bytes;
}

inline std::int64_t posix_size(std::string const& name) {
    struct stat about{};
    return ::stat(name.c_str(), &about) == 0 ? about.st_size : -1;
}

inline void posix_write(std::string const& name, std::span<unsigned char const> bytes) {
    int const fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    std::size_t done = 0;
    while (fd >= 0 && done < bytes.size()) {
        auto const put = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (put <= 0) break;
        done += static_cast<std::size_t>(put);
    }
    if (fd >= 0) ::close(fd);
    is_equal(bytes.size(), done, "bytes of " + name + " written by POSIX");
}

/// Collective on MPI_COMM_WORLD. Afterwards the file exists and holds the prefilled bytes.
inline std::string fresh_file(std::string_view name, std::int64_t prefilled_bytes) {
    std::string const full = path(name);
    if (rank() == 0) posix_write(full, model::prefill(0, prefilled_bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    return full;
}

/// Collective on MPI_COMM_WORLD: rank 0 compares every byte of the file, then removes it.
inline void compare_and_remove(std::string const& name, model::File expected,
                               Where where = Where::current()) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
        auto const found = posix_read(name);
        if (state().options.plain) expected.forgive_holes(found);
        same_bytes(expected.bytes(), found, "file", where);
        ::unlink(name.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Waits in a way that lets the other ranks have the core.
inline void sleep_ms(int milliseconds) { ::usleep(static_cast<useconds_t>(milliseconds) * 1000U); }

struct Test {
    std::string name;
    std::function<void()> run;
};

int run_suite(int argc, char** argv, std::string_view program,
              std::function<std::vector<Test>()> const& make_tests);

}  // namespace check

#include "suite.hpp"
