// The library's MPI_File_ functions for the shared file pointer. Where all ranks of the file are on
// one node the library has that pointer, and a call is then an access like that of another family,
// at the place where the pointer was. Else the MPI has it; where it was not given the view, calls
// are refused.
#include "mpi/datatype/datatype.hpp"
#include "mpi/errors.hpp"
#include "mpi/events/calls.hpp"
#include "mpi/events/traced_call.hpp"
#include "mpi/file/access.hpp"
#include "mpi/file/pass_on.hpp"
#include "mpi/file/position.hpp"
#include "mpi/guard.hpp"
#include "mpi/mpi_devices.hpp"
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

/// Where neither the library nor the MPI reaches the memory.
bool is_out_of_reach(sluice::File const& file, AccessArguments const& a) {
    if (!sluice::device_of_buffer(a) || sluice::mpi_reaches_devices()) return false;
    file.log(describe(a.direction),
             {.status = Status::buffer,
              .what =
                  "the buffer lies on a GPU, which this MPI does not reach, and the MPI has the "
                  "shared file pointer: copy the bytes to memory of the host first"});
    return true;
}

/// Whether the MPI, which moves the shared pointer and the bytes, does it right.
Status check_shared(sluice::File const& file, AccessArguments const& a) {
    sluice::FileView const& view = file.view;
    if (view.owned) return Status::unsupported;
    Status const status = sluice::check_type(a.type, file.team->communicator);
    bool const converts = view.representation != sluice::Representation::native;
    if (file.served() && converts && status != Status::ok) return status;
    if (status == Status::ok && is_out_of_reach(file, a)) return Status::buffer;
    bool const alike =
        !file.served() || !converts || sluice::is_alike_in_mpi(a.type, view.representation);
    return alike ? Status::ok : Status::unsupported;
}

template <class Pass> int pass_or_raise(OpenFile const& file, Status status, Pass&& pass) {
    return status != Status::ok ? sluice::raise(file->handle, status) : pass_on(file, pass);
}

template <class Pass>
int pass_shared(OpenFile const& file, AccessArguments const& arguments, Pass&& pass) {
    return pass_or_raise(file, file ? check_shared(*file, arguments) : Status::ok, pass);
}

/// The same of calls that all ranks make, and that wait for each other in the MPI. With the hints
/// that keep it from sieving (ExactHints) ROMIO lets a rank go before later ones have moved the
/// pointer, and its next call would take their place: here it waits until all have.
template <class Pass>
int pass_ordered(OpenFile const& file, AccessArguments const& arguments, Pass&& pass) {
    auto const pass_and_agree = [&] {
        int const code = pass();
        if (file && file->exact) static_cast<void>(file->agree(Status::ok));
        return code;
    };
    if (!file) return pass_on(file, pass_and_agree);
    Status const mine = check_shared(*file, arguments);
    return pass_or_raise(file, file->served() ? file->agree(mine) : mine, pass_and_agree);
}

/// By one rank alone. `result` is the call's status or request; `pass()` is the MPI's own function.
template <class Result, class Pass>
int shared(char const* name, AccessArguments const& arguments, Result* result, Pass&& pass) {
    auto const recorded = recorded_access(name, arguments, result);
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_independent(file, arguments, result)
                                 : pass_shared(file, arguments, pass);
    });
}

/// By all ranks, in their order.
template <class Pass>
int ordered(AccessArguments const& arguments, MPI_Status* status, Pass&& pass) {
    auto const recorded = recorded_access(arguments.function, arguments, status);
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_blocking(file, arguments, status)
                                 : pass_ordered(file, arguments, pass);
    });
}

template <class Pass> int begin(AccessArguments const& arguments, Pass&& pass) {
    auto const recorded =
        recorded_access(arguments.function, arguments, static_cast<MPI_Status*>(nullptr));
    return sluice::guarded(arguments.handle, [&] {
        auto const file = sluice::find_file(arguments.handle);
        return has_pointer(file) ? sluice::access_begin(file, arguments)
                                 : pass_ordered(file, arguments, pass);
    });
}

template <class Pass>
int end(MPI_File handle, Direction direction, MPI_Status* status, Pass&& pass) {
    auto const recorded = sluice::record::recorded_call("finish", handle);
    return sluice::guarded(handle, [&] {
        auto const file = sluice::find_file(handle);
        AccessArguments const none{handle, direction, From::shared_in_order, 0, nullptr,
                                   0,      MPI_BYTE};
        return has_pointer(file) ? sluice::access_end(file, direction, status)
                                 : pass_ordered(file, none, pass);
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
                      result, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, result); });    \
    }
#define SLUICE_ORDERED(NAME, WAY, BUFFER, COUNT)                                                   \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        SLUICE_TRACED(NAME);                                                                       \
        return ordered(                                                                            \
            {fh, WAY, From::shared_in_order, 0, const_cast<void*>(buf), count, type, #NAME},       \
            status, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, status); });              \
    }
#define SLUICE_ORDERED_BEGIN(NAME, WAY, BUFFER, COUNT)                                             \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        SLUICE_TRACED(NAME);                                                                       \
        return begin(                                                                              \
            {fh, WAY, From::shared_in_order, 0, const_cast<void*>(buf), count, type, #NAME},       \
            [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type); });                              \
    }
#define SLUICE_ORDERED_END(NAME, WAY, BUFFER)                                                      \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        SLUICE_TRACED(NAME);                                                                       \
        return end(fh, WAY, status, [&] { return SLUICE_PMPI(NAME)(fh, buf, status); });           \
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
