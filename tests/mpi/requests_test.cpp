// Requests among others: of several threads at once, which the MPI gives each other's handles, with
// functions of the program's that the MPI calls from within the waiting calls, and freed ones.
#include "request_callbacks.hpp"
#include "request_reuse.hpp"

#include <malloc.h>

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

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests;
    for (auto const& [name, wait] : request_reuse::ways) {
        tests.push_back({std::string("reused/") + name, [w = wait] { request_reuse::run(w); }});
    }
    request_callbacks::add(tests);
    tests.push_back({"freed_leave_nothing", freed_leave_nothing});
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "requests_test", make_tests);
}
