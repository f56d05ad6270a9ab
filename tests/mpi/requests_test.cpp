// Requests among others: of several threads at once, which the MPI gives each other's handles, with
// functions of the program's that the MPI calls from within the waiting calls, and freed ones.
#include "request_callbacks.hpp"
#include "request_reuse.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

thread_local int allocations_left = -1;  ///< Of this thread, to the one that fails; below 0: none.

void* allocate(std::size_t bytes) {
    if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}

}  // namespace

// Also of the library, in this process.
void* operator new(std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace access_form;

/// Requests that are freed, not waited for, leave nothing behind.
void freed_leave_nothing() {
    constexpr int warm_up = 2000, measured = 20000;
    auto const name = check::path("freed" + std::to_string(check::rank()) + ".bin");
    MPI_File file = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_COMM_SELF);
    char const data[8] = "1234567";
    auto const free_some = [&](int count) {
        for (int i = 0; i < count; ++i) {
            MPI_Request request = MPI_REQUEST_NULL;
            check::ok(MPI_File_iwrite_at(file, 0, data, sizeof data, MPI_BYTE, &request));
            check::ok(MPI_Request_free(&request));
        }
        for (int i = 0; i < 20; ++i) {  // The last ones may still be under way.
            check::sleep_ms(2);
            MPI_Request last = MPI_REQUEST_NULL;
            check::ok(MPI_File_iwrite_at(file, 0, data, sizeof data, MPI_BYTE, &last));
            check::ok(MPI_Wait(&last, MPI_STATUS_IGNORE));
        }
        return static_cast<double>(mallinfo2().uordblks);
    };
    double const before = free_some(warm_up);
    double const bytes = (free_some(measured) - before) / measured;
    if (!check::state().options.plain) {
        check::is_true(bytes < 16, std::to_string(bytes) + " bytes a freed request, below 16");
    }
    close(file);
    ::unlink(name.c_str());
}

/// The call whose n-th allocation fails, for each n: it says so, and the file works on.
void no_memory(bool collective) {
    auto const name = check::path("memory" + std::to_string(check::rank()) + ".bin");
    MPI_File file = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_COMM_SELF);
    int refused = 0;
    for (int n = 0; n < 40; ++n) {
        char const data[8] = "1234567";
        MPI_Request request = MPI_REQUEST_NULL;
        allocations_left = n;
        int const code =
            collective ? MPI_File_iwrite_at_all(file, 0, data, sizeof data, MPI_BYTE, &request)
                       : MPI_File_iwrite_at(file, 0, data, sizeof data, MPI_BYTE, &request);
        allocations_left = -1;
        int const its_end = code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
        if (its_end == MPI_SUCCESS) continue;
        ++refused;
        check::is_equal(MPI_ERR_NO_MEM, check::class_of(its_end), "class");
    }
    if (!check::state().options.plain) check::is_true(refused > 0, "some allocation failed");
    char const data[8] = "7654321";
    char found[8]{};
    check::ok(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
    check::ok(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, MPI_STATUS_IGNORE));
    check::is_equal(std::string_view(data), std::string_view(found), "bytes");
    close(file);
    ::unlink(name.c_str());
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests;
    for (auto const& [name, wait] : request_reuse::ways) {
        tests.push_back({std::string("reused/") + name, [w = wait] { request_reuse::run(w); }});
    }
    request_callbacks::add(tests);
    tests.push_back({"no_memory/independent", [] { no_memory(false); }});
    tests.push_back({"no_memory/collective", [] { no_memory(true); }});
    tests.push_back({"freed_leave_nothing", freed_leave_nothing});
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "requests_test", make_tests);
}
