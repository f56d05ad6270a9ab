// Independent data access, and access by the shared pointer. Nonblocking independent calls are
// served, because the MPIs' own requests hang or fail (Open MPI at the end of the file, MPICH when
// it is asked twice). So are blocking writes of views with holes, which ROMIO sieves. Other
// blocking calls and the shared pointer are the MPI's, unless it was not given the view: then
// blocking calls are served too, and the shared pointer, which only the MPI has, is refused.
#include "api/access.hpp"
#include "api/errors.hpp"
#include "api/guard.hpp"
#include "api/meet.hpp"
#include "api/next.hpp"

namespace {

using sluice::AccessArguments;
using sluice::Direction;

/// A blocking call that the MPI would do wrong: it was not given the view, or it might write the
/// bytes between the pieces as it found them earlier (data sieving), while operations of this
/// library write there.
bool must_serve(sluice::File const& file, Direction direction) {
    sluice::FileView const& view = file.view;
    return view.owned || (direction == Direction::write && !view.filetype->is_contiguous());
}

/// `result` is the call's status or request.
template <class Result, class Pass>
int alone(AccessArguments const& arguments, Result* result, Pass&& pass) {
    auto const file = sluice::find_file(arguments.handle);
    if (!file) return pass();
    constexpr bool nonblocking = std::is_same_v<Result, MPI_Request>;
    if (file->served() && (nonblocking || must_serve(*file, arguments.direction))) {
        return sluice::guarded(arguments.handle,
                               [&] { return sluice::access_alone(file, arguments, result); });
    }
    file->passed();
    if (arguments.explicit_offset) return pass();
    sluice::PointerLock const lock(*file);
    return pass();
}

template <class Pass> int shared(MPI_File handle, Pass&& pass) {
    auto const file = sluice::find_file(handle);
    if (!file) return pass();
    if (!file->view.owned) {
        file->passed();
        return pass();
    }
    return sluice::raise(handle, sluice::Status::unsupported);
}

/// The same of calls that all ranks make.
template <class Pass> int ordered(MPI_File handle, Pass&& pass) {
    return shared(handle, [&] {
        sluice::meet(handle);
        return pass();
    });
}

}  // namespace

#define SLUICE_ALONE(NAME, WAY, BUFFER, COUNT, RESULT)                                             \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        return alone({fh, WAY, false, 0, const_cast<void*>(buf), count, type}, result,             \
                     [&] { return SLUICE_NEXT(NAME)(fh, buf, count, type, result); });             \
    }
#define SLUICE_ALONE_AT(NAME, WAY, BUFFER, COUNT, RESULT)                                          \
    int NAME(MPI_File fh, MPI_Offset offset, BUFFER buf, COUNT count, MPI_Datatype type,           \
             RESULT result) {                                                                      \
        return alone({fh, WAY, true, offset, const_cast<void*>(buf), count, type}, result,         \
                     [&] { return SLUICE_NEXT(NAME)(fh, offset, buf, count, type, result); });     \
    }
#define SLUICE_SHARED(NAME, BUFFER, COUNT, RESULT)                                                 \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, RESULT result) {             \
        return shared(fh, [&] { return SLUICE_NEXT(NAME)(fh, buf, count, type, result); });        \
    }
#define SLUICE_ORDERED(NAME, BUFFER, COUNT)                                                        \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type, MPI_Status* status) {        \
        return ordered(fh, [&] { return SLUICE_NEXT(NAME)(fh, buf, count, type, status); });       \
    }
#define SLUICE_ORDERED_END(NAME, BUFFER)                                                           \
    int NAME(MPI_File fh, BUFFER buf, MPI_Status* status) {                                        \
        return ordered(fh, [&] { return SLUICE_NEXT(NAME)(fh, buf, status); });                    \
    }
#define SLUICE_SHARED_BEGIN(NAME, BUFFER, COUNT)                                                   \
    int NAME(MPI_File fh, BUFFER buf, COUNT count, MPI_Datatype type) {                            \
        return ordered(fh, [&] { return SLUICE_NEXT(NAME)(fh, buf, count, type); });               \
    }
#define SLUICE_COUNTED(SUFFIX, COUNT)                                                              \
    SLUICE_ALONE(MPI_File_write##SUFFIX, Direction::write, void const*, COUNT, MPI_Status*)        \
    SLUICE_ALONE(MPI_File_read##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)                \
    SLUICE_ALONE(MPI_File_iwrite##SUFFIX, Direction::write, void const*, COUNT, MPI_Request*)      \
    SLUICE_ALONE(MPI_File_iread##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)              \
    SLUICE_ALONE_AT(MPI_File_write_at##SUFFIX, Direction::write, void const*, COUNT, MPI_Status*)  \
    SLUICE_ALONE_AT(MPI_File_read_at##SUFFIX, Direction::read, void*, COUNT, MPI_Status*)          \
    SLUICE_ALONE_AT(MPI_File_iwrite_at##SUFFIX, Direction::write, void const*, COUNT,              \
                    MPI_Request*)                                                                  \
    SLUICE_ALONE_AT(MPI_File_iread_at##SUFFIX, Direction::read, void*, COUNT, MPI_Request*)        \
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
