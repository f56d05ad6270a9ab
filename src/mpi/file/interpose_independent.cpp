// The library's MPI_File_ functions for independent data access and for the shared file pointer. It
// serves all independent calls: ROMIO would sieve writes of views with holes, the MPIs convert
// external32 wrongly, their nonblocking requests hang or fail (Open MPI at the end of the file,
// MPICH when it is asked twice), and none of them sees writes that are delayed. The MPI has the
// shared pointer. Where it was not given the view, calls of that are refused.
#include "mpi/errors.hpp"
#include "mpi/file/access.hpp"
#include "mpi/guard.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/progress/progress_barrier.hpp"

#include <optional>

namespace {

using sluice::AccessArguments;
using sluice::Direction;
using sluice::Status;

bool converts(sluice::FileView const& view) noexcept {
    return view.representation != sluice::Representation::native;
}

/// The MPI serves the call: what others have delayed is in the file before. `file` may be null.
template <class Pass> int pass_on(std::shared_ptr<sluice::File> const& file, Pass&& pass) {
    if (!file) {
        sluice::wait_for_all_delayed();
        return pass();
    }
    file->wait_for_delayed({0, sluice::endless}, false);
    file->wait_until_void({0, sluice::endless});
    file->passed();
    return pass();
}

/// `result` is the call's status or request.
template <class Result, class Pass>
int alone(AccessArguments const& arguments, Result* result, Pass&& pass) {
    auto const file = sluice::find_file(arguments.handle);
    if (!file || !file->served()) {
        std::optional<sluice::PointerLock> lock;
        if (file && !arguments.explicit_offset) lock.emplace(*file);
        return pass_on(file, pass);
    }
    return sluice::guarded(arguments.handle,
                           [&] { return sluice::access_independent(file, arguments, result); });
}

/// Whether the MPI, which moves the shared pointer and the bytes, does it right.
Status check_shared(sluice::File const& file, MPI_Datatype type) {
    sluice::FileView const& view = file.view;
    if (view.owned) return Status::unsupported;
    if (!file.served() || !converts(view)) return Status::ok;
    Status const status = sluice::check_type(*file.team, type);
    if (status != Status::ok) return status;
    return sluice::is_alike_in_mpi(type, view.representation) ? Status::ok : Status::unsupported;
}

template <class Pass>
int pass_or_raise(std::shared_ptr<sluice::File> const& file, Status status, Pass&& pass) {
    return status != Status::ok ? sluice::raise(file->handle, status) : pass_on(file, pass);
}

template <class Pass> int shared(MPI_File handle, MPI_Datatype type, Pass&& pass) try {
    auto const file = sluice::find_file(handle);
    return pass_or_raise(file, file ? check_shared(*file, type) : Status::ok, pass);
}
SLUICE_NO_MEMORY(handle)

/// The same of calls that all ranks make, and that wait for each other in the MPI.
template <class Pass> int ordered(MPI_File handle, MPI_Datatype type, Pass&& pass) try {
    auto const file = sluice::find_file(handle);
    auto const barrier_and_pass = [&] {
        sluice::progress_barrier(handle);
        return pass();
    };
    if (!file) return pass_on(file, barrier_and_pass);
    Status const mine = check_shared(*file, type);
    bool const may_differ = file->served() && converts(file->view);
    return pass_or_raise(file, may_differ ? file->agree(mine) : mine, barrier_and_pass);
}
SLUICE_NO_MEMORY(handle)

}  // namespace

#define SLUICE_INDEPENDENT(NAME, WAY, BUFFER, COUNT, RESULT)                                       \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        return alone({fh, WAY, false, 0, const_cast<void*>(buf), count, type}, result,             \
                     [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, result); });             \
    }
#define SLUICE_INDEPENDENT_AT(NAME, WAY, BUFFER, COUNT, RESULT)                                    \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             RESULT result) {                                                                      \
        return alone({fh, WAY, true, offset, const_cast<void*>(buf), count, type}, result,         \
                     [&] { return SLUICE_PMPI(NAME)(fh, offset, buf, count, type, result); });     \
    }
#define SLUICE_SHARED(NAME, BUFFER, COUNT, RESULT)                                                 \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        return shared(fh, type, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, result); });  \
    }
#define SLUICE_ORDERED(NAME, BUFFER, COUNT)                                                        \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        return ordered(fh, type, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type, status); }); \
    }
#define SLUICE_ORDERED_END(NAME, BUFFER)                                                           \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        return ordered(fh, MPI_BYTE, [&] { return SLUICE_PMPI(NAME)(fh, buf, status); });          \
    }
#define SLUICE_SHARED_BEGIN(NAME, BUFFER, COUNT)                                                   \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        return ordered(fh, type, [&] { return SLUICE_PMPI(NAME)(fh, buf, count, type); });         \
    }
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_INDEPENDENT(MPI_File_write##SUFFIX, Direction::write, void const*, COUNT, MPI_Status*)  \
    SLUICE_INDEPENDENT(MPI_File_read##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)          \
    SLUICE_INDEPENDENT(MPI_File_iwrite##SUFFIX, Direction::write, void const*, COUNT,              \
                       MPI_Request*)                                                               \
    SLUICE_INDEPENDENT(MPI_File_iread##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)        \
    SLUICE_INDEPENDENT_AT(MPI_File_write_at##SUFFIX, Direction::write, void const*, COUNT,         \
                          MPI_Status*)                                                             \
    SLUICE_INDEPENDENT_AT(MPI_File_read_at##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)    \
    SLUICE_INDEPENDENT_AT(MPI_File_iwrite_at##SUFFIX, Direction::write, void const*, COUNT,        \
                          MPI_Request*)                                                            \
    SLUICE_INDEPENDENT_AT(MPI_File_iread_at##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)  \
    SLUICE_SHARED(MPI_File_write_shared##SUFFIX, void const*, COUNT, MPI_Status*)                  \
    SLUICE_SHARED(MPI_File_read_shared##SUFFIX, void*, COUNT, MPI_Status*)                         \
    SLUICE_SHARED(MPI_File_iwrite_shared##SUFFIX, void const*, COUNT, MPI_Request*)                \
    SLUICE_SHARED(MPI_File_iread_shared##SUFFIX, void*, COUNT, MPI_Request*)                       \
    SLUICE_ORDERED(MPI_File_write_ordered##SUFFIX, void const*, COUNT)                             \
    SLUICE_ORDERED(MPI_File_read_ordered##SUFFIX, void*, COUNT)                                    \
    SLUICE_SHARED_BEGIN(MPI_File_write_ordered_begin##SUFFIX, void const*, COUNT)                  \
    SLUICE_SHARED_BEGIN(MPI_File_read_ordered_begin##SUFFIX, void*, COUNT)

extern "C" {

SLUICE_ORDERED_END(MPI_File_write_ordered_end, void const*)
SLUICE_ORDERED_END(MPI_File_read_ordered_end, void*)
SLUICE_COUNTED(, int)
#ifdef SLUICE_HAVE_LARGE_COUNT
SLUICE_COUNTED(_c, MPI_Count)
#endif

}  // extern "C"
