// A Status is an error class of MPI without <mpi.h>. The numbers travel between ranks, and the
// largest one wins when ranks agree, so their order is part of the protocol: a class that says more
// has a larger number. transport/mpi_status.hpp has MPI's classes. Pure.
#pragma once
#include <cstdint>

namespace sluice {

enum class Status : std::int32_t {
    ok = 0,
    other,     ///< Something that no class below names.
    mismatch,  ///< The ranks did not make the same collective call.
    io,        ///< The device or the file system failed.
    no_memory,
    bad_file,
    no_such_file,
    access,     ///< The operating system refused.
    read_only,  ///< The file was opened so that it cannot be written.
    amode,      ///< The file was opened so that it cannot be read.
    quota,
    no_space,
    unsupported,
    split,       ///< A split collective is begun twice, or ended without a begin.
    truncated,   ///< A message is longer than the memory that is to take it.
    conversion,  ///< A number has no place in the file's data representation.
    argument,
    buffer,
    type,   ///< A datatype is not committed, or a view is not legal.
    count,  ///< A negative or absurd count.
};

/// The status that all ranks report when some report `a` and others `b`. Commutative, associative.
constexpr Status agreed(Status a, Status b) noexcept { return a < b ? b : a; }

/// One or two words for messages.
char const* describe(Status status) noexcept;

}  // namespace sluice
