/* A program, or with -shared a tool, that defines functions of MPI itself and hands them on to
 * their PMPI_ names: those that -DWRAP_... name. As a program it is files.c otherwise. */
#include <mpi.h>

#ifdef PROGRAM
#include "files.c"
#endif

#ifdef WRAP_WAIT
int MPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Wait(request, status); }
#endif

#ifdef WRAP_WAITALL
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    return PMPI_Waitall(count, requests, statuses);
}
#endif

#ifdef WRAP_SET_VIEW
int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, char const* representation, MPI_Info info) {
    return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}
#endif

#ifdef WRAP_INIT
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
#endif

#ifdef WRAP_FINALIZE
int MPI_Finalize(void) { return PMPI_Finalize(); }
#endif

#ifdef WRAP_SEND
int MPI_Send(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    return PMPI_Send(data, count, type, to, tag, comm);
}
#endif

#ifdef WRAP_DUP
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return PMPI_Comm_dup(comm, made); }
#endif

#ifdef WRAP_FORTRAN
void mpi_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error);
void mpi_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
    (void)request, (void)status;
    *error = MPI_ERR_OTHER; /* Nobody calls it here. */
}
#endif

#ifdef WRAP_CHAINED
#include <dlfcn.h>
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    int (*const next)(MPI_Request*, MPI_Status*) = dlsym(RTLD_NEXT, "MPI_Wait");
    return next(request, status);
}
#endif

#ifdef TAKE_ADDRESS
/* In a program that is not position independent the function gets an entry in the program. */
static int (*volatile wait_function)(MPI_Request*, MPI_Status*);
__attribute__((constructor)) static void take_address(void) { wait_function = MPI_Wait; }
#endif
