// How errors are put into words, and how many are logged. See errors.hpp.
#include "mpi/errors.hpp"

#include "storage/profile_path.hpp"
#include "system/errno_status.hpp"
#include "system/log.hpp"

#include <atomic>

namespace sluice {
namespace {

constexpr int lines_most = 100;  ///< Of one process: a full disk fails every call of a long job.

std::string text_of_mpi(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    return {text, static_cast<std::size_t>(length)};
}

std::string cause_of(Error const& error) {
    bool const by_mpi = error.source == Error::Source::mpi;
    return by_mpi ? text_of_mpi(error.code) : errno_text(error.code);
}

#ifdef OPEN_MPI
/// Open MPI takes MPI_FILE_NULL here for no file, and ends the program. A function of the program's
/// cannot be called so: the code is returned to it.
void call_default_handler(int code) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_File_get_errhandler(MPI_FILE_NULL, &handler) != MPI_SUCCESS) return;
    if (handler == MPI_ERRORS_ARE_FATAL) PMPI_Abort(MPI_COMM_WORLD, code);
}
#else
void call_default_handler(int code) { PMPI_File_call_errhandler(MPI_FILE_NULL, code); }
#endif

}  // namespace

std::string describe(Error const& error) {
    if (!error.what) return describe(error.status);
    std::string text = error.what;
    if (error.bytes > 0) text += " of " + std::to_string(error.bytes) + " bytes";
    if (error.offset >= 0) text += " at offset " + std::to_string(error.offset);
    if (error.peer >= 0) text += " (message from or to rank " + std::to_string(error.peer) + ")";
    return error.source == Error::Source::library ? text : text + ": " + cause_of(error);
}

void log_error(std::string const& operation, Error const& error) {
    static std::atomic<int> lines{0};
    if (!error) return;
    int const line = ++lines;
    if (line > lines_most) return;
    std::string const rank = "rank " + std::to_string(world_rank()) + " on " + host_name();
    warn(rank + ": " + operation + ": " + describe(error), true);
    if (line == lines_most) warn(rank + ": no further error of this process is logged", true);
}

int raise(MPI_File file, Status status) {
    int const code = error_class(status);
    if (code == MPI_SUCCESS) return code;
    if (file == MPI_FILE_NULL)
        call_default_handler(code);
    else
        PMPI_File_call_errhandler(file, code);
    return code;
}

}  // namespace sluice
