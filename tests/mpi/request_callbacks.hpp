// Functions of the program that the MPI calls from within calls that wait, and that write files:
// those of generalized requests, error handlers, attribute functions.
#pragma once
#include "access.hpp"

#include <cstring>

namespace request_callbacks {

using namespace access_form;

/// What the callbacks write: to a file of this rank alone.
class Log {
public:
    explicit Log(std::string_view name)
        : name_(check::path(std::string(name) + std::to_string(check::rank()) + ".bin")),
          file_(open(name_, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_COMM_SELF)) {}
    ~Log() {
        close(file_);
        ::unlink(name_.c_str());
    }
    Log(Log const&) = delete;
    Log& operator=(Log const&) = delete;

    /// A collective write, an independent one, and one that is waited for.
    void write() {
        int const number = ++written_;
        check::ok(MPI_File_write_at_all(file_, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
        check::ok(MPI_File_write_at(file_, 4, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Request request = MPI_REQUEST_NULL;
        check::ok(MPI_File_iwrite_at_all(file_, 8, &number, 1, MPI_INT, &request));
        check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    void expect_written() {
        check::is_true(written_ > 0, "the function was called");
        int found[3]{};
        check::ok(MPI_File_read_at(file_, 0, found, 3, MPI_INT, MPI_STATUS_IGNORE));
        for (int const number : found) check::is_equal(written_, number, "number in the file");
    }

private:
    std::string name_;
    MPI_File file_;
    int written_ = 0;
};

inline Log*& log() {
    static Log* current = nullptr;
    return current;
}

inline int query(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
inline int query_that_writes(void* state, MPI_Status* status) {
    log()->write();
    return query(state, status);
}
inline int release(void*) { return MPI_SUCCESS; }
inline int release_that_writes(void*) {
    log()->write();
    return MPI_SUCCESS;
}
inline int cancel(void*, int) { return MPI_SUCCESS; }

/// Completes both requests of an array.
using Wait = void (*)(MPI_Request*);
inline void wait_all(MPI_Request* both) { check::ok(MPI_Waitall(2, both, MPI_STATUSES_IGNORE)); }
inline void wait_any(MPI_Request* both) {
    for (int i = 0, index = 0; i < 2; ++i) {
        check::ok(MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE));
    }
}
inline void wait_some(MPI_Request* both) {
    int indices[2];
    for (int done = 0, completed = 0; done < 2; done += completed) {
        check::ok(MPI_Waitsome(2, both, &completed, indices, MPI_STATUSES_IGNORE));
    }
}
inline void wait_each(MPI_Request* both) {
    check::ok(MPI_Wait(&both[0], MPI_STATUS_IGNORE));
    check::ok(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
}
inline constexpr struct {
    char const* name;
    Wait wait;
} waits[]{
    {"waitall", wait_all}, {"waitany", wait_any}, {"waitsome", wait_some}, {"wait", wait_each}};

/// A file of all ranks with a request under way.
class Written {
public:
    Written() : name_(check::fresh_file("callbacks.bin", 0)), file_(open(name_)) {}
    ~Written() {
        close(file_);
        if (check::rank() == 0) ::unlink(name_.c_str());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    Written(Written const&) = delete;
    Written& operator=(Written const&) = delete;
    [[nodiscard]] MPI_Request start() {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Offset const at = check::rank() * static_cast<MPI_Offset>(data_.size());
        check::ok(MPI_File_iwrite_at_all(file_, at, data_.data(), static_cast<int>(data_.size()),
                                         MPI_BYTE, &request));
        return request;
    }

private:
    std::string name_;
    MPI_File file_;
    model::Bytes data_ = model::data_of(5, check::rank(), 0, 300000);
};

/// A generalized request of the program's beside a file request.
inline void generalized(bool in_query, Wait wait) {
    Log its("log");
    log() = &its;
    {
        Written file;
        MPI_Request both[2]{MPI_REQUEST_NULL, file.start()};
        MPI_Grequest_start(in_query ? query_that_writes : query,
                           in_query ? release : release_that_writes, cancel, nullptr, &both[0]);
        MPI_Grequest_complete(both[0]);
        wait(both);
    }
    its.expect_written();
}

inline void on_error_of_communicator(MPI_Comm*, int*, ...) { log()->write(); }
inline void on_error_of_file(MPI_File*, int*, ...) { log()->write(); }

/// Of the communicators whose handler an MPI may call where a message of MPI_COMM_SELF that is
/// waited for is too long: Intel MPI 2021.18.1 calls that of MPI_COMM_WORLD.
inline void set_handlers(MPI_Errhandler handler) {
    for (MPI_Comm const comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
        MPI_Comm_set_errhandler(comm, handler);
    }
}

/// Open MPI 5.0 says nothing of a receive of this rank's own message that is too long.
inline bool truncation_is_told() {
    set_handlers(MPI_ERRORS_RETURN);
    char const sent[8]{};
    char received[4];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received, 4, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(sent, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    int const code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    set_handlers(MPI_ERRORS_ARE_FATAL);
    return code != MPI_SUCCESS;
}

/// A message that is too long, received beside a file request.
inline void communicator_handler() {
    if (!truncation_is_told()) return;
    Log its("log");
    log() = &its;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_error_of_communicator, &handler);
    set_handlers(handler);
    {
        Written file;
        char sent[8]{}, received[4];
        MPI_Request both[2]{MPI_REQUEST_NULL, file.start()};
        MPI_Irecv(received, 4, MPI_BYTE, 0, 1, MPI_COMM_SELF, &both[0]);
        MPI_Send(sent, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF);
        for (int i = 0, index = 0; i < 2; ++i) MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
    }
    its.expect_written();
    set_handlers(MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/// A file that cannot be written: its handler, in a blocking call and in one that waits.
inline void file_handler() {
    Log its("log");
    log() = &its;
    auto const name = check::fresh_file("refused.bin", 10);
    MPI_File refused = open(name, MPI_MODE_RDONLY);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(on_error_of_file, &handler);
    MPI_File_set_errhandler(refused, handler);
    {
        Written file;
        char const data = 1;
        check::is_true(MPI_File_write_at_all(refused, 0, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE) !=
                           MPI_SUCCESS,
                       "the write fails");
        MPI_Request both[2]{MPI_REQUEST_NULL, file.start()};
        MPI_File_iwrite_at_all(refused, 0, &data, 1, MPI_BYTE, &both[0]);
        int indices[2];
        for (int completed = 0; completed != MPI_UNDEFINED;) {
            MPI_Waitsome(2, both, &completed, indices, MPI_STATUSES_IGNORE);
        }
    }
    its.expect_written();
    MPI_Errhandler_free(&handler);
    close(refused);
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

/// What an attribute points to. Only while its communicator is there.
struct Attributed {
    MPI_Comm comm = MPI_COMM_NULL;
    bool written = false;  ///< When the communicator was freed.
};

inline int write_and_forget(MPI_Comm freed, int, void* value, void*) {
    auto& its = *static_cast<Attributed*>(value);
    check::is_true(!its.written, "the attribute's function is called while its communicator lives");
    if (freed != its.comm) return MPI_SUCCESS;  // A duplicate that the MPI made for a file.
    log()->write();
    its.written = true;
    return MPI_SUCCESS;
}

/// More communicators with attributes than the library keeps anything of.
inline void attribute_function() {
    static Attributed all[12];
    Log its("log");
    log() = &its;
    auto const name = check::path("attribute" + std::to_string(check::rank()) + ".bin");
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, write_and_forget, &key, nullptr);
    for (auto& one : all) {
        one.written = false;
        MPI_Comm_dup(MPI_COMM_SELF, &one.comm);
        MPI_Comm_set_attr(one.comm, key, &one);
        MPI_File file = open(name, MPI_MODE_RDWR | MPI_MODE_CREATE, one.comm);
        close(file);
    }
    for (auto& one : all) {
        MPI_Comm comm = one.comm;
        MPI_Comm_free(&comm);
        check::is_true(one.written, "the attribute's function was called");
    }
    its.expect_written();
    MPI_Comm_free_keyval(&key);
    ::unlink(name.c_str());
}

/// MPICH holds a lock of its own while it calls a free function, where there may be threads.
inline bool may_call_mpi_in_free_function() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    bool const is_mpich = std::strstr(version, "MPICH") != nullptr;
    return !is_mpich || check::state().provided != MPI_THREAD_MULTIPLE;
}

inline void add(std::vector<check::Test>& tests) {
    bool const in_free = may_call_mpi_in_free_function();
    for (auto const& [name, wait] : waits) {
        std::string const in = name;
        if (in_free)
            tests.push_back({"free_function/" + in, [w = wait] { generalized(false, w); }});
        tests.push_back({"query_function/" + in, [w = wait] { generalized(true, w); }});
    }
    tests.push_back({"communicator_handler", communicator_handler});
    tests.push_back({"file_handler", file_handler});
    tests.push_back({"attribute_function", attribute_function});
}

}  // namespace request_callbacks
