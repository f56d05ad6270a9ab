// The library's MPI_File_ functions for collective data access: blocking, nonblocking and split,
// with int and with large counts. Each looks up the file; where the library does not serve it, the
// call goes to the MPI.
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access_in_mpi.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::From;
using sluice::record::recorded_access;

using OpenFile = std::shared_ptr<sluice::File>;

/// `serve(file)` where the library serves the file, else `pass()`, which leaves it to the MPI.
template <class Serve, class Pass> int serve_or_pass(MPI_File handle, Serve&& serve, Pass&& pass) {
    auto const file = sluice::find_file(handle);
    return sluice::guarded(handle, [&] {
        if (file && file->served()) return serve(file);
        sluice::Delayed::wait_for_all();
        return pass();
    });
}

/// `function` is the MPI's own.
template <class Function>
int blocking(AccessArguments const& arguments, MPI_Status* status, Function&& function) {
    auto const recorded = recorded_access(arguments.function, arguments, status);
    return serve_or_pass(
        arguments.handle,
        [&](OpenFile const& file) { return sluice::access_blocking(file, arguments, status); },
        [&] { return sluice::access_in_mpi(arguments, status, function); });
}

template <class Function>
int nonblocking(AccessArguments const& arguments, MPI_Request* request, Function&& function) {
    auto const recorded = recorded_access(arguments.function, arguments, request);
    return serve_or_pass(
        arguments.handle,
        [&](OpenFile const& file) { return sluice::access_nonblocking(file, arguments, request); },
        [&] { return sluice::access_in_mpi(arguments, request, function); });
}

template <class Function> int begin(AccessArguments const& arguments, Function&& function) {
    auto const recorded =
        recorded_access(arguments.function, arguments, static_cast<MPI_Status*>(nullptr));
    return serve_or_pass(
        arguments.handle,
        [&](OpenFile const& file) { return sluice::access_begin(file, arguments); },
        [&] {
            auto staged = sluice::StagedMemory::of(arguments);
            return sluice::begin_in_mpi(arguments, staged, function);
        });
}

template <class Function>
int end(MPI_File handle, Direction direction, void* buffer, MPI_Status* status,
        Function&& function) {
    auto const recorded = sluice::record::recorded_call("finish", handle);
    return serve_or_pass(
        handle, [&](OpenFile const& file) { return sluice::access_end(file, direction, status); },
        [&] {
            auto const staged = sluice::take_begun(handle);
            void* const its = staged ? staged->arguments().buffer : buffer;
            return sluice::complete_or_raise(
                staged.get(), status, [&](MPI_Status* result) { return function(its, result); });
        });
}

}  // namespace

// One line a function: the families differ only in names and argument types.
#define SLUICE_BLOCKING(NAME, WAY, BUFFER, COUNT)                                                  \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        SLUICE_TRACED(NAME);                                                                       \
        return blocking({fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME},   \
                        status, [](AccessArguments const& a, MPI_Status* its) {                    \
                            return SLUICE_PMPI(NAME)(a.handle, a.buffer,                           \
                                                     static_cast<COUNT>(a.count), a.type, its);    \
                        });                                                                        \
    }
#define SLUICE_BLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Status* status) {                                                                 \
        SLUICE_TRACED(NAME);                                                                       \
        return blocking(                                                                           \
            {fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME}, status,   \
            [](AccessArguments const& a, MPI_Status* its) {                                        \
                return SLUICE_PMPI(NAME)(a.handle, a.offset, a.buffer,                             \
                                         static_cast<COUNT>(a.count), a.type, its);                \
            });                                                                                    \
    }
#define SLUICE_NONBLOCKING(NAME, WAY, BUFFER, COUNT)                                               \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Request* request) {      \
        SLUICE_TRACED(NAME);                                                                       \
        return nonblocking(                                                                        \
            {fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME}, request,      \
            [](AccessArguments const& a, MPI_Request* its) {                                       \
                return SLUICE_PMPI(NAME)(a.handle, a.buffer, static_cast<COUNT>(a.count), a.type,  \
                                         its);                                                     \
            });                                                                                    \
    }
#define SLUICE_NONBLOCKING_AT(NAME, WAY, BUFFER, COUNT)                                            \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             MPI_Request* request) {                                                               \
        SLUICE_TRACED(NAME);                                                                       \
        return nonblocking(                                                                        \
            {fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME}, request,  \
            [](AccessArguments const& a, MPI_Request* its) {                                       \
                return SLUICE_PMPI(NAME)(a.handle, a.offset, a.buffer,                             \
                                         static_cast<COUNT>(a.count), a.type, its);                \
            });                                                                                    \
    }
#define SLUICE_BEGIN(NAME, WAY, BUFFER, COUNT)                                                     \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        SLUICE_TRACED(NAME);                                                                       \
        return begin({fh, WAY, From::pointer, 0, const_cast<void*>(buf), count, type, #NAME},      \
                     [](AccessArguments const& a) {                                                \
                         return SLUICE_PMPI(NAME)(a.handle, a.buffer, static_cast<COUNT>(a.count), \
                                                  a.type);                                         \
                     });                                                                           \
    }
#define SLUICE_BEGIN_AT(NAME, WAY, BUFFER, COUNT)                                                  \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type) {         \
        SLUICE_TRACED(NAME);                                                                       \
        return begin({fh, WAY, From::offset, offset, const_cast<void*>(buf), count, type, #NAME},  \
                     [](AccessArguments const& a) {                                                \
                         return SLUICE_PMPI(NAME)(a.handle, a.offset, a.buffer,                    \
                                                  static_cast<COUNT>(a.count), a.type);            \
                     });                                                                           \
    }
#define SLUICE_END(NAME, WAY, BUFFER)                                                              \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        SLUICE_TRACED(NAME);                                                                       \
        return end(fh, WAY, const_cast<void*>(buf), status, [=](void* its_buf, MPI_Status* its) {  \
            return SLUICE_PMPI(NAME)(fh, its_buf, its);                                            \
        });                                                                                        \
    }
// All functions with a count, for one type of counts.
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_BLOCKING(MPI_File_write_all##SUFFIX, Direction::write, void const*, COUNT)              \
    SLUICE_BLOCKING(MPI_File_read_all##SUFFIX, Direction::read, void*, COUNT)                      \
    SLUICE_BLOCKING_AT(MPI_File_write_at_all##SUFFIX, Direction::write, void const*, COUNT)        \
    SLUICE_BLOCKING_AT(MPI_File_read_at_all##SUFFIX, Direction::read, void*, COUNT)                \
    SLUICE_NONBLOCKING(MPI_File_iwrite_all##SUFFIX, Direction::write, void const*, COUNT)          \
    SLUICE_NONBLOCKING(MPI_File_iread_all##SUFFIX, Direction::read, void*, COUNT)                  \
    SLUICE_NONBLOCKING_AT(MPI_File_iwrite_at_all##SUFFIX, Direction::write, void const*, COUNT)    \
    SLUICE_NONBLOCKING_AT(MPI_File_iread_at_all##SUFFIX, Direction::read, void*, COUNT)            \
    SLUICE_BEGIN(MPI_File_write_all_begin##SUFFIX, Direction::write, void const*, COUNT)           \
    SLUICE_BEGIN(MPI_File_read_all_begin##SUFFIX, Direction::read, void*, COUNT)                   \
    SLUICE_BEGIN_AT(MPI_File_write_at_all_begin##SUFFIX, Direction::write, void const*, COUNT)     \
    SLUICE_BEGIN_AT(MPI_File_read_at_all_begin##SUFFIX, Direction::read, void*, COUNT)

extern "C" {

SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
#endif

SLUICE_END(MPI_File_write_all_end, Direction::write, void const*)
SLUICE_END(MPI_File_read_all_end, Direction::read, void*)
SLUICE_END(MPI_File_write_at_all_end, Direction::write, void const*)
SLUICE_END(MPI_File_read_at_all_end, Direction::read, void*)

}  // extern "C"
