// Whether the helper takes the core of a rank that computes: for files and messages between nodes
// it does; for copies on a node it waits until a core is idle (SCHED_BATCH).
#pragma once
#include "collective_types.hpp"

#include "check.hpp"

#include <filesystem>
#include <fstream>
#include <sched.h>

namespace collective_test {

/// Of the thread with this name, as the system has it; -1: there is none.
inline int policy_of_thread(std::string const& wanted) {
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name == wanted) return sched_getscheduler(std::stoi(task.path().filename().string()));
    }
    return -1;
}

/// A helper that is just starting gets its policy a moment later.
inline bool helper_gets_policy(int wanted) {
    for (int i = 0; i < 1000; ++i) {
        if (policy_of_thread("sluice-helper") == wanted) return true;
        check::sleep_ms(1);
    }
    return false;
}

/// All ranks but the first leave a collective to the helper, then a file operation too.
inline void helper_preempts_for_devices_only() {
    bool const helps = !check::state().options.plain && check::has_helper();
    if (check::size() == 1 || !helps) return;
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    MPI_Request request = MPI_REQUEST_NULL;
    int const begun = 0;
    int const usual = sched_getscheduler(0);  // Another than SCHED_OTHER stays, as the user's.
    bool const batch = check::is_one_node() && usual == SCHED_OTHER;
    if (check::rank() == 0)  // The others have looked already.
        for (int r = 1; r < check::size(); ++r)
            MPI_Recv(nullptr, 0, MPI_INT, r, begun, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check::ok(MPI_Ibarrier(communicator, &request));
    if (check::rank() != 0) {
        check::is_true(helper_gets_policy(batch ? SCHED_BATCH : usual),
                       "copies on a node take no core");
        MPI_Send(nullptr, 0, MPI_INT, 0, begun, MPI_COMM_WORLD);
    }
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&communicator);

    std::string const name = check::fresh_file("helper.bin", 0);
    MPI_File file = MPI_FILE_NULL;
    check::ok(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    char const byte = 'a';
    check::ok(MPI_File_iwrite_at_all(file, check::rank(), &byte, 1, MPI_BYTE, &request));
    if (check::rank() != 0)
        check::is_true(helper_gets_policy(usual), "a file operation takes a core");
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check::ok(MPI_File_close(&file));
    if (check::rank() == 0) std::filesystem::remove(name);
}

}  // namespace collective_test
