// Threads that share nothing, each with its own communicator, file and array of requests: file
// requests among receives and sends. What the MPI frees in one thread it may give to another.
#pragma once
#include "access.hpp"

#include <thread>

namespace request_reuse {

using namespace access_form;

constexpr int threads = 4, writes = 16, bytes = 64;
constexpr int count = writes + 2;

/// The array of one thread.
struct Batch {
    MPI_Request requests[count];
    MPI_Status statuses[count];
    int done = 0;

    void take(int index, MPI_Status const& status) {
        ++done;
        statuses[index] = status;
    }
};

inline void all(Batch& batch) {
    check::ok(MPI_Waitall(count, batch.requests, batch.statuses));
    batch.done = count;
}
inline void test_all(Batch& batch) {
    int flag = 0;
    while (!flag && check::ok(MPI_Testall(count, batch.requests, &flag, batch.statuses))) {
    }
    batch.done = count;
}
inline void any(Batch& batch) {
    for (int index = 0; index != MPI_UNDEFINED;) {
        MPI_Status status;
        check::ok(MPI_Waitany(count, batch.requests, &index, &status));
        if (index != MPI_UNDEFINED) batch.take(index, status);
    }
}
inline void test_any(Batch& batch) {
    for (int index = 0, flag = 0; !flag || index != MPI_UNDEFINED;) {
        MPI_Status status;
        check::ok(MPI_Testany(count, batch.requests, &index, &flag, &status));
        if (flag && index != MPI_UNDEFINED) batch.take(index, status);
    }
}
template <class Some> void some(Batch& batch, Some&& call) {
    for (int completed = 0; completed != MPI_UNDEFINED;) {
        int indices[count];
        MPI_Status statuses[count];
        check::ok(call(count, batch.requests, &completed, indices, statuses));
        for (int k = 0; completed != MPI_UNDEFINED && k < completed; ++k) {
            batch.take(indices[k], statuses[k]);
        }
    }
}
/// Each after the MPI was told that it is complete.
inline void queried(Batch& batch) {
    for (int i = 0; i < count; ++i) {
        for (int flag = 0; !flag;) {
            check::ok(MPI_Request_get_status(batch.requests[i], &flag, MPI_STATUS_IGNORE));
        }
        MPI_Status status;
        int flag = 0;
        if (i % 2 == 0)
            check::ok(MPI_Wait(&batch.requests[i], &status));
        else
            check::ok(MPI_Test(&batch.requests[i], &flag, &status));
        batch.take(i, status);
    }
}

struct Way {
    char const* name;
    void (*wait)(Batch&);
};
inline constexpr Way ways[]{
    {"waitall", all},
    {"waitany", any},
    {"waitsome", [](Batch& batch) { some(batch, MPI_Waitsome); }},
    {"testall", test_all},
    {"testany", test_any},
    {"testsome", [](Batch& batch) { some(batch, MPI_Testsome); }},
    {"get_status", queried},
};

inline void check_batch(Batch const& batch) {
    check::is_equal(count, batch.done, "requests that were completed");
    for (int i = 0; i < count; ++i) {
        check::is_true(batch.requests[i] == MPI_REQUEST_NULL, "the request is null");
        int got = -1;
        MPI_Get_count(&batch.statuses[i], MPI_BYTE, &got);
        if (i != count - 1) check::is_equal(bytes, got, "bytes in the status");
    }
}

/// File requests, a receive and its send.
inline void start(MPI_File file, MPI_Comm comm, model::Bytes const& data, model::Bytes& received,
                  Batch& batch) {
    for (int i = 0; i < writes; ++i) {
        check::ok(MPI_File_iwrite_at(file, MPI_Offset{i} * bytes, data.data() + i * bytes, bytes,
                                     MPI_BYTE, &batch.requests[i]));
    }
    check::ok(MPI_Irecv(received.data(), bytes, MPI_BYTE, 0, 1, comm, &batch.requests[writes]));
    check::ok(MPI_Isend(data.data(), bytes, MPI_BYTE, 0, 1, comm, &batch.requests[writes + 1]));
}

inline void use(MPI_Comm comm, MPI_File file, int thread, int rounds, void (*wait)(Batch&)) {
    model::Bytes data, received(bytes);
    for (int round = 0; round < rounds; ++round) {
        data = model::data_of(thread, check::rank(), round, writes * bytes);
        Batch batch;
        start(file, comm, data, received, batch);
        wait(batch);
        check_batch(batch);
    }
    model::Bytes found(data.size());
    check::ok(MPI_File_read_at(file, 0, found.data(), writes * bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    check::same_bytes(data, found, "file");
}

inline void run(void (*wait)(Batch&)) {
    int const rounds = check::state().options.plain ? 1 : 600;
    bool const multiple = check::state().provided == MPI_THREAD_MULTIPLE;
    MPI_Comm comms[threads];
    MPI_File files[threads];
    auto const name = [](int t) {
        return check::path("reuse" + std::to_string(check::rank() * threads + t) + ".bin");
    };
    for (int t = 0; t < threads; ++t) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[t]);
        files[t] = open(name(t), MPI_MODE_RDWR | MPI_MODE_CREATE, comms[t]);
    }
    std::vector<std::thread> running;
    for (int t = 0; t < (multiple ? threads : 1); ++t) {
        running.emplace_back([=, &comms, &files] { use(comms[t], files[t], t, rounds, wait); });
        if (!multiple) running.back().join();
    }
    for (auto& thread : running) {
        if (thread.joinable()) thread.join();
    }
    for (int t = 0; t < threads; ++t) {
        close(files[t]);
        MPI_Comm_free(&comms[t]);
        ::unlink(name(t).c_str());
    }
}

}  // namespace request_reuse
