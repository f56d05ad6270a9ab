// The table of statuses and error classes. See mpi_status.hpp.
#include "transport/mpi_status.hpp"

#include <algorithm>
#include <iterator>
#include <mpi.h>

namespace sluice {
namespace {

/// In the order of the statuses.
constexpr struct {
    Status status;
    int error_class;
} table[] = {
    {Status::ok, MPI_SUCCESS},
    {Status::other, MPI_ERR_OTHER},
    {Status::mismatch, MPI_ERR_NOT_SAME},
    {Status::io, MPI_ERR_IO},
    {Status::no_memory, MPI_ERR_NO_MEM},
    {Status::bad_file, MPI_ERR_BAD_FILE},
    {Status::no_such_file, MPI_ERR_NO_SUCH_FILE},
    {Status::access, MPI_ERR_ACCESS},
    {Status::read_only, MPI_ERR_READ_ONLY},
    {Status::amode, MPI_ERR_ACCESS},
    {Status::quota, MPI_ERR_QUOTA},
    {Status::no_space, MPI_ERR_NO_SPACE},
    {Status::unsupported, MPI_ERR_UNSUPPORTED_OPERATION},
    {Status::split, MPI_ERR_OTHER},  // MPI has no class for it.
    {Status::truncated, MPI_ERR_TRUNCATE},
    {Status::conversion, MPI_ERR_CONVERSION},
    {Status::argument, MPI_ERR_ARG},
    {Status::buffer, MPI_ERR_BUFFER},
    {Status::type, MPI_ERR_TYPE},
    {Status::count, MPI_ERR_COUNT},
};

constexpr bool in_order() noexcept {
    for (std::size_t i = 0; i < std::size(table); ++i) {
        if (table[i].status != static_cast<Status>(i)) return false;
    }
    return table[std::size(table) - 1].status == Status::count;
}
static_assert(in_order(), "every status has its line");

}  // namespace

int error_class(Status status) noexcept {
    return table[static_cast<std::size_t>(status)].error_class;
}

Status status_of_mpi(int code) noexcept {
    int error = MPI_SUCCESS;
    if (code != MPI_SUCCESS) PMPI_Error_class(code, &error);
    auto const* const found =
        std::find_if(std::begin(table), std::end(table),
                     [error](auto const& t) { return t.error_class == error; });
    return found == std::end(table) ? Status::other : found->status;
}

Error mpi_error(char const* call, int code, Bytes bytes, Offset offset) noexcept {
    if (code == MPI_SUCCESS) return {};
    return {status_of_mpi(code), Error::Source::mpi, code, call, bytes, offset};
}

}  // namespace sluice
