// One collective transfer in each of the forms that MPI has for it, with the checks that belong to
// every form: status, file pointer, gaps in memory.
#pragma once
#include "check.hpp"

#include <array>

namespace access_form {

enum class Direction { write, read };
enum class Form { all, at_all, iall, iat_all, split_all, split_at_all };
inline constexpr std::array every_form{Form::all,     Form::at_all,    Form::iall,
                                       Form::iat_all, Form::split_all, Form::split_at_all};

inline char const* name_of(Form form) {
    static constexpr std::array names{"all", "at_all", "iall", "iat_all", "begin", "at_begin"};
    return names[static_cast<std::size_t>(form)];
}
inline bool uses_pointer(Form form) {
    return form == Form::all || form == Form::iall || form == Form::split_all;
}

inline MPI_Offset position(MPI_File file) {
    MPI_Offset at = -1;
    MPI_File_get_position(file, &at);
    return at;
}

/// Memory of a request: exactly the bytes that MPI may touch, and `untouched` in the gaps.
inline model::Bytes memory_with(model::Request const& request, model::Bytes const& data) {
    return model::scattered(request.in_memory(), data);
}

inline void set_view(MPI_File file, model::View const& view, char const* representation = "native",
                     check::Where where = check::Where::current()) {
    model::Type const filetype(view.filetype);  // freed on return: the file must keep its own
    check::ok(MPI_File_set_view(file, static_cast<MPI_Offset>(view.displacement), view.etype,
                                filetype.get(), representation, MPI_INFO_NULL),
              "MPI_File_set_view", where);
}

inline int start_write(MPI_File f, Form form, MPI_Offset at, void const* p, int n, MPI_Datatype t,
                       MPI_Status* status, MPI_Request* request) {
    switch (form) {
    case Form::all:
        return MPI_File_write_all(f, p, n, t, status);
    case Form::at_all:
        return MPI_File_write_at_all(f, at, p, n, t, status);
    case Form::iall:
        return MPI_File_iwrite_all(f, p, n, t, request);
    case Form::iat_all:
        return MPI_File_iwrite_at_all(f, at, p, n, t, request);
    case Form::split_all:
        return MPI_File_write_all_begin(f, p, n, t);
    case Form::split_at_all:
        return MPI_File_write_at_all_begin(f, at, p, n, t);
    }
    return MPI_ERR_OTHER;
}

inline int start_read(MPI_File f, Form form, MPI_Offset at, void* p, int n, MPI_Datatype t,
                      MPI_Status* status, MPI_Request* request) {
    switch (form) {
    case Form::all:
        return MPI_File_read_all(f, p, n, t, status);
    case Form::at_all:
        return MPI_File_read_at_all(f, at, p, n, t, status);
    case Form::iall:
        return MPI_File_iread_all(f, p, n, t, request);
    case Form::iat_all:
        return MPI_File_iread_at_all(f, at, p, n, t, request);
    case Form::split_all:
        return MPI_File_read_all_begin(f, p, n, t);
    case Form::split_at_all:
        return MPI_File_read_at_all_begin(f, at, p, n, t);
    }
    return MPI_ERR_OTHER;
}

inline int finish(MPI_File f, Form form, Direction direction, void* p, MPI_Status* status,
                  MPI_Request* request) {
    bool const writes = direction == Direction::write;
    switch (form) {
    case Form::all:
    case Form::at_all:
        return MPI_SUCCESS;
    case Form::iall:
    case Form::iat_all:
        return MPI_Wait(request, status);
    case Form::split_all:
        return writes ? MPI_File_write_all_end(f, p, status) : MPI_File_read_all_end(f, p, status);
    case Form::split_at_all:
        return writes ? MPI_File_write_at_all_end(f, p, status)
                      : MPI_File_read_at_all_end(f, p, status);
    }
    return MPI_ERR_OTHER;
}

/// The status of a transfer must tell the true number of bytes, also as a count of memory types.
inline void check_count(MPI_Status& status, model::Request const& request, MPI_Datatype memory,
                        std::int64_t bytes, check::Where where) {
    MPI_Count found = -1;
    MPI_Get_elements_x(&status, MPI_BYTE, &found);
    check::is_equal(static_cast<MPI_Count>(bytes), found, "bytes in the status", where);
    std::int64_t const unit = request.memory.size();
    if (unit == 0) return;
    int count = -1;
    MPI_Get_count(&status, memory, &count);
    int const expected = bytes % unit == 0 ? static_cast<int>(bytes / unit) : MPI_UNDEFINED;
    check::is_equal(expected, count, "count in the status", where);
}

/// What Sluice says of its own operations.
inline void check_status(MPI_Status& status, model::Request const& request, MPI_Datatype memory,
                         std::int64_t bytes, check::Where where) {
    check_count(status, request, memory, bytes, where);
    if (check::state().options.plain) return;  // Open MPI 5.0.11 leaves the flag unset
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    check::is_equal(0, cancelled, "cancelled", where);
}

/// Moves one request's data; `moved` is what the status must say. The memory type is freed as soon
/// as the operation has been started.
inline void transfer(MPI_File file, Form form, Direction direction, model::Request const& request,
                     model::Bytes& memory, std::int64_t moved,
                     check::Where where = check::Where::current()) {
    auto const at = static_cast<MPI_Offset>(request.offset);
    if (uses_pointer(form)) check::ok(MPI_File_seek(file, at, MPI_SEEK_SET), "seek", where);
    MPI_Offset const before = position(file);
    MPI_Status status{};
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Datatype kept = MPI_DATATYPE_NULL;
    {
        model::Type const type(request.memory);
        MPI_Type_dup(type.get(), &kept);  // for reading the status later
        void* const p = memory.data();
        check::ok(direction == Direction::write
                      ? start_write(file, form, at, p, request.count, type.get(), &status, &handle)
                      : start_read(file, form, at, p, request.count, type.get(), &status, &handle),
                  "starting call", where);
    }
    auto const after =
        static_cast<MPI_Offset>(uses_pointer(form) ? request.position_after() : before);
    bool const whole = moved == request.bytes();
    // Split forms and reads past the end leave open when the pointer moves, and how far.
    bool const at_once = form != Form::split_all && whole;
    if (at_once)
        check::is_equal(after, position(file), "file pointer right after the start", where);
    check::ok(finish(file, form, direction, memory.data(), &status, &handle), "completion", where);
    if (whole) check::is_equal(after, position(file), "file pointer after completion", where);
    check_status(status, request, kept, moved, where);
    MPI_Type_free(&kept);
}

/// The hints of the options; null where there are none.
inline MPI_Info hints_of_options() {
    std::string_view rest = check::state().options.hints;
    MPI_Info info = MPI_INFO_NULL;
    if (!rest.empty()) MPI_Info_create(&info);
    while (!rest.empty()) {
        auto const end = std::min(rest.find(';'), rest.size());
        auto const equals = std::min(rest.find('='), end);
        std::string const name(rest.substr(0, equals));
        std::string const value(rest.substr(std::min(equals + 1, end), end - equals - 1));
        check::ok(MPI_Info_set(info, name.c_str(), value.c_str()), "MPI_Info_set " + name);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return info;
}

inline MPI_File open(std::string const& name, int mode = MPI_MODE_RDWR | MPI_MODE_CREATE,
                     MPI_Comm comm = MPI_COMM_WORLD, MPI_Info info = MPI_INFO_NULL,
                     check::Where where = check::Where::current()) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info own = info == MPI_INFO_NULL ? hints_of_options() : MPI_INFO_NULL;
    MPI_Info const given = own != MPI_INFO_NULL ? own : info;
    if (!check::ok(MPI_File_open(comm, name.c_str(), mode, given, &file), "MPI_File_open", where)) {
        MPI_Abort(MPI_COMM_WORLD, 3);  // nothing of the sub-test could run on
    }
    if (own != MPI_INFO_NULL) MPI_Info_free(&own);
    return file;
}

inline void close(MPI_File& file, check::Where where = check::Where::current()) {
    check::ok(MPI_File_close(&file), "MPI_File_close", where);
}

/// Reads with one form and compares with the bytes that the model says.
inline void read_and_compare(MPI_File file, Form form, model::Request const& request,
                             model::Bytes const& expected,
                             check::Where where = check::Where::current()) {
    auto const blocks = request.in_memory();
    auto const moved = static_cast<std::int64_t>(expected.size());
    auto memory = memory_with(request, {});
    transfer(file, form, Direction::read, request, memory, moved, where);
    // What a short read leaves in the rest of the wanted memory is the MPI's own business.
    model::blank_after(blocks, moved, memory);
    check::same_bytes(model::scattered(blocks, expected, moved), memory, "memory after the read",
                      where);
}

}  // namespace access_form
