// MPI_Init to MPI_Finalize and the file functions without buffers, for Fortran. Each converts its
// arguments and calls the C function, which is intercepted where there is something to do.
#include "mpi/fortran/fortran.hpp"

#ifdef SLUICE_FORTRAN_KNOWN
using namespace sluice::fortran;

extern "C" {

SLUICE_FORTRAN(init, (Integer ierror), MPI_Init(nullptr, nullptr))
SLUICE_FORTRAN(init_thread, (Integer required, Integer provided, Integer ierror),
               MPI_Init_thread(nullptr, nullptr, *required, provided))
SLUICE_FORTRAN(finalize, (Integer ierror), MPI_Finalize())
#ifdef MPI_SESSION_NULL
SLUICE_FORTRAN(session_init, (Integer hints, Integer handler, Integer session, Integer ierror),
               MPI_Session_init(info(hints), Errhandler::to_c(handler), Out<Session>(session)))
SLUICE_FORTRAN(session_finalize, (Integer session, Integer ierror),
               MPI_Session_finalize(Updated<Session>(session)))
#endif

SLUICE_FORTRAN(file_open,
               (Integer communicator, char* name, Integer amode, Integer hints, Integer fh,
                Integer ierror, int length),
               MPI_File_open(comm(communicator), trimmed(name, length).c_str(), *amode, info(hints),
                             Out<File>(fh)))
SLUICE_FORTRAN(file_close, (Integer fh, Integer ierror), MPI_File_close(Updated<File>(fh)))
SLUICE_FORTRAN(file_delete, (char* name, Integer hints, Integer ierror, int length),
               MPI_File_delete(trimmed(name, length).c_str(), info(hints)))
SLUICE_FORTRAN(file_set_view,
               (Integer fh, Offset displacement, Integer etype, Integer filetype, char* datarep,
                Integer hints, Integer ierror, int length),
               MPI_File_set_view(file(fh), *displacement, type(etype), type(filetype),
                                 trimmed(datarep, length).c_str(), info(hints)))
SLUICE_FORTRAN(file_get_view,
               (Integer fh, Offset displacement, Integer etype, Integer filetype, char* datarep,
                Integer ierror, int length),
               MPI_File_get_view(file(fh), displacement, Out<Datatype>(etype),
                                 Out<Datatype>(filetype),
                                 StringOut(datarep, length, MPI_MAX_DATAREP_STRING)))
SLUICE_FORTRAN(file_set_info, (Integer fh, Integer hints, Integer ierror),
               MPI_File_set_info(file(fh), info(hints)))
SLUICE_FORTRAN(file_get_info, (Integer fh, Integer hints, Integer ierror),
               MPI_File_get_info(file(fh), Out<Info>(hints)))
SLUICE_FORTRAN(file_set_atomicity, (Integer fh, Integer flag, Integer ierror),
               MPI_File_set_atomicity(file(fh), *flag != 0))
SLUICE_FORTRAN(file_set_size, (Integer fh, Offset size, Integer ierror),
               MPI_File_set_size(file(fh), *size))
SLUICE_FORTRAN(file_preallocate, (Integer fh, Offset size, Integer ierror),
               MPI_File_preallocate(file(fh), *size))
SLUICE_FORTRAN(file_sync, (Integer fh, Integer ierror), MPI_File_sync(file(fh)))
SLUICE_FORTRAN(file_get_size, (Integer fh, Offset size, Integer ierror),
               MPI_File_get_size(file(fh), size))
SLUICE_FORTRAN(file_seek, (Integer fh, Offset offset, Integer whence, Integer ierror),
               MPI_File_seek(file(fh), *offset, *whence))
SLUICE_FORTRAN(file_seek_shared, (Integer fh, Offset offset, Integer whence, Integer ierror),
               MPI_File_seek_shared(file(fh), *offset, *whence))
SLUICE_FORTRAN(file_get_position, (Integer fh, Offset offset, Integer ierror),
               MPI_File_get_position(file(fh), offset))
SLUICE_FORTRAN(file_get_position_shared, (Integer fh, Offset offset, Integer ierror),
               MPI_File_get_position_shared(file(fh), offset))
SLUICE_FORTRAN(file_get_byte_offset,
               (Integer fh, Offset offset, Offset displacement, Integer ierror),
               MPI_File_get_byte_offset(file(fh), *offset, displacement))
SLUICE_FORTRAN(file_get_type_extent, (Integer fh, Integer datatype, Address extent, Integer ierror),
               MPI_File_get_type_extent(file(fh), type(datatype), extent))

}  // extern "C"
#endif
