// The library's MPI_File_ functions for the shared file pointer. Where all ranks of the file are on
// one node the library has that pointer, and a call is then an access like that of another family,
// at the place where the pointer was. Else the MPI has it, and moves the bytes; where it was not
// given the view, calls are refused.
#include "mpi/datatype/datatype.hpp"
#include "mpi/errors.hpp"
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access_in_mpi.hpp"
#include "mpi/file/pass_on.hpp"
#include "mpi/file/position.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::From;
using sluice::Status;
using sluice::record::recorded_access;
using OpenFile = std::shared_ptr<sluice::File>;

/// The same on all ranks. While the MPI serves a file it has the pointer, which is zero at each
/// change between the two: MPI_File_set_view sets both to zero.
bool has_pointer(OpenFile const& file) { return file && file->served() && file->shared_pointer(); }

/// Whether the MPI, which moves the shared pointer and the bytes, does it right.
Status check_shared(sluice::File const& file, AccessArguments const& a) {
    sluice::FileView const& view = file.view;
    if (view.owned) return Status::unsupported;
    Status const status = sluice::check_type(a.type, file.team->communicator);
    bool const converts = view.representation != sluice::Representation::native;
    if (file.served() && converts && status != Status::ok) return status;
    bool const alike =
        !file.served() || !converts || sluice::is_alike_in_mpi(a.type, view.representation);
    return alike ? Status::ok : Status::unsupported;
}

template <class Result, class Pass>
int pass_shared(OpenFile const& file, AccessArguments const& arguments, Result* result,
                Pass&& pass) {
    Status const status = file ? check_shared(*file, arguments) : Status::ok;
    if (status != Status::ok) return sluice::raise(file->handle, status);
    return pass_on(file, [&] { return sluice::access_in_mpi(arguments, result, pass); });
}

/// The same of calls that all ranks make, and that wait for each other in the MPI. An error of one
/// is known to all: before `pass()`, the MPI's function, and after a read. With the hints that keep
/// it from sieving (ExactHints) ROMIO lets a rank go before later ones have moved the pointer, and
/// its next call would take their place: here it waits until all have.
template <class Pass>
int pass_ordered(OpenFile const& file, AccessArguments const& arguments,
                 sluice::StagedMemory const* staged, Pass&& pass) {
    auto const status = [&] { return staged ? staged->status() : Status::ok; };
    if (!file) {
        int const code = pass_on(file, pass);
        return code == MPI_SUCCESS ? sluice::raise(arguments.handle, status()) : code;
    }
    Status const before = file->agree(agreed(check_shared(*file, arguments), status()));
    if (before != Status::ok) return sluice::raise(file->handle, before);
    int const code = pass_on(file, pass);
    bool const meets = file->exact || arguments.direction == Direction::read;
    Status const after = meets ? file->agree(status()) : Status::ok;
    return code == MPI_SUCCESS ? sluice::raise(file->handle, after) : code;
}

template <class Pass>
int pass_ordered(OpenFile const& file, AccessArguments const& arguments, MPI_Status* status,
                 Pass&& pass) {
    auto const staged = sluice::StagedMemory::of(arguments);
    AccessArguments const& its = staged ? staged->arguments() : arguments;
    return pass_ordered(file, arguments, staged.get(), [&] {
        return sluice::complete_staged(staged.get(), status,
                                       [&](MPI_Status* result) { return pass(its, result); });
    });
}

template <class Pass>
int pass_begin(OpenFile const& file, AccessArguments const& arguments, Pass&& pass) {
    auto staged = sluice::StagedMemory::of(arguments);
    auto const begin = [&] { return sluice::begin_in_mpi(arguments, staged, pass); };
    return file ? pass_ordered(file, arguments, staged.get(), begin) : pass_on(file, begin);
}

template <class Pass>
int pass_end(OpenFile const& file, AccessArguments const& arguments, MPI_Status* status,
             Pass&& pass) {
    auto const staged = sluice::take_begun(arguments.handle);
    void* const buffer = staged ? staged->arguments().buffer : arguments.buffer;
    return pass_ordered(file, arguments, staged.get(), [&] {
        return sluice::complete_staged(staged.get(), status,
                                       [&](MPI_Status* result) { return pass(buffer, result); });
    });
}

/// By one rank alone. `result` is the call's status or request; `pass()` is the MPI's own function.
template <class Result, class Pass>
int shared(char const* name, AccessArguments const& arguments, Result* result, Pass&& pass) {
    auto const recorded = recorded_access(name, arguments, result);
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_independent(file, arguments, result)
                                 : pass_shared(file, arguments, result, pass);
    });
}

/// By all ranks, in their order.
template <class Pass>
int ordered(AccessArguments const& arguments, MPI_Status* status, Pass&& pass) {
    auto const recorded = recorded_access(arguments.function, arguments, status);
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_blocking(file, arguments, status)
                                 : pass_ordered(file, arguments, status, pass);
    });
}

template <class Pass> int begin(AccessArguments const& arguments, Pass&& pass) {
    auto const recorded =
        recorded_access(arguments.function, arguments, static_cast<MPI_Status*>(nullptr));
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_begin(file, arguments)
                                 : pass_begin(file, arguments, pass);
    });
}

template <class Pass> int end(AccessArguments const& arguments, MPI_Status* status, Pass&& pass) {
    MPI_File const handle = arguments.handle;
    auto const recorded = sluice::record::recorded_call("finish", handle);
    return sluice::guarded(handle, [&] {
        auto const file = sluice::find_file(handle);
        return has_pointer(file) ? sluice::access_end(file, arguments.direction, status)
                                 : pass_end(file, arguments, status, pass);
    });
}

int seek(sluice::File const& file, MPI_Offset offset, int whence) {
    Status const status = sluice::seek_shared(file, offset, whence);
    bool const differ = status == Status::mismatch;
    char const* const why = differ ? "the arguments differ between the ranks"
                                   : "no such place, or no such way to count from one";
    if (file.team->self == 0) file.log("MPI_File_seek_shared", {.status = status, .what = why});
    return sluice::raise(file.handle, status);
}

}  // namespace

#define SLUICE_SHARED(NAME, WAY, BUFFER, COUNT, RESULT)                                            \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        SLUICE_TRACED(NAME);                                                                       \
        return shared(#NAME,                                                                       \
                      {fh, WAY, From::shared_pointer, 0, const_cast<void*>(buf), count, type},     \
                      result, [](AccessArguments const& a, RESULT its) {                           \
                          return SLUICE_PMPI(NAME)(a.handle, a.buffer,                             \
                                                   static_cast<COUNT>(a.count), a.type, its);      \
                      });                                                                          \
    }
#define SLUICE_ORDERED(NAME, WAY, BUFFER, COUNT)                                                   \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        SLUICE_TRACED(NAME);                                                                       \
        return ordered(                                                                            \
            {fh, WAY, From::shared_in_order, 0, const_cast<void*>(buf), count, type, #NAME},       \
            status, [](AccessArguments const& a, MPI_Status* its) {                                \
                return SLUICE_PMPI(NAME)(a.handle, a.buffer, static_cast<COUNT>(a.count), a.type,  \
                                         its);                                                     \
            });                                                                                    \
    }
#define SLUICE_ORDERED_BEGIN(NAME, WAY, BUFFER, COUNT)                                             \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        SLUICE_TRACED(NAME);                                                                       \
        return begin(                                                                              \
            {fh, WAY, From::shared_in_order, 0, const_cast<void*>(buf), count, type, #NAME},       \
            [](AccessArguments const& a) {                                                         \
                return SLUICE_PMPI(NAME)(a.handle, a.buffer, static_cast<COUNT>(a.count), a.type); \
            });                                                                                    \
    }
#define SLUICE_ORDERED_END(NAME, WAY, BUFFER)                                                      \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        SLUICE_TRACED(NAME);                                                                       \
        return end(                                                                                \
            {fh, WAY, From::shared_in_order, 0, const_cast<void*>(buf), 0, MPI_BYTE}, status,      \
            [=](void* its_buf, MPI_Status* its) { return SLUICE_PMPI(NAME)(fh, its_buf, its); });  \
    }
// All functions with a count, for one type of counts.
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_SHARED(MPI_File_write_shared##SUFFIX, Direction::write, void const*, COUNT,             \
                  MPI_Status*)                                                                     \
    SLUICE_SHARED(MPI_File_read_shared##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)        \
    SLUICE_SHARED(MPI_File_iwrite_shared##SUFFIX, Direction::write, void const*, COUNT,            \
                  MPI_Request*)                                                                    \
    SLUICE_SHARED(MPI_File_iread_shared##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)      \
    SLUICE_ORDERED(MPI_File_write_ordered##SUFFIX, Direction::write, void const*, COUNT)           \
    SLUICE_ORDERED(MPI_File_read_ordered##SUFFIX, Direction::read, void*, COUNT)                   \
    SLUICE_ORDERED_BEGIN(MPI_File_write_ordered_begin##SUFFIX, Direction::write, void const*,      \
                         COUNT)                                                                    \
    SLUICE_ORDERED_BEGIN(MPI_File_read_ordered_begin##SUFFIX, Direction::read, void*, COUNT)

extern "C" {

SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
#endif

SLUICE_ORDERED_END(MPI_File_write_ordered_end, Direction::write, void const*)
SLUICE_ORDERED_END(MPI_File_read_ordered_end, Direction::read, void*)

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) try {
    auto const recorded = sluice::record::recorded_seek("seek_shared", fh, offset, whence);
    auto const file = sluice::find_file(fh);
    if (whence == MPI_SEEK_END) wait_for_delayed(file);
    if (has_pointer(file)) return seek(*file, offset, whence);
    return SLUICE_PMPI(MPI_File_seek_shared)(fh, offset, whence);
}
SLUICE_NO_MEMORY(fh)

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) try {
    auto const file = sluice::find_file(fh);
    if (!has_pointer(file)) return SLUICE_PMPI(MPI_File_get_position_shared)(fh, offset);
    *offset = file->shared_pointer()->position();
    return MPI_SUCCESS;
}
SLUICE_NO_MEMORY(fh)

}  // extern "C"
