// What mode overlap lets go on beside a computation: an operation of MPI, served by Sluice or by
// the MPI itself, or a plain thread that does only what no engine can avoid.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/file/access.hpp"

namespace sluice::bench {

class Background {
public:
    explicit Background(std::string its_name) : name(std::move(its_name)) {}
    Background(Background const&) = delete;
    Background& operator=(Background const&) = delete;
    virtual ~Background() = default;

    std::string const name;

    // Collective, but for test(). An access is prepared, started, and waited for.
    virtual void prepare(bool writes) = 0;  ///< Fills memory; what is not timed.
    virtual void start(bool writes) = 0;
    virtual void test() = 0;
    virtual void wait() = 0;
    /// Of the last access; the sum of all ranks, on all ranks.
    virtual std::uint64_t wrong_bytes(bool writes) = 0;
};

/// Nonblocking collective calls of MPI; `pattern` must outlive them.
std::unique_ptr<Background> mpi_background(Run const& run, Pattern const& pattern, Side side);

/// The MPI's own blocking calls in a thread of each rank, as a program may have them without any
/// library. Needs MPI_THREAD_MULTIPLE.
std::unique_ptr<Background> thread_background(Run const& run, Pattern const& pattern);

/// The ideal: a thread of each rank transfers an equal part of the file's bytes, in the order in
/// which they lie there, without any MPI. Bytes that an exchange would move to another node cross
/// the network by one connection of TCP. With the hint sluice_page_cache=direct they go past the
/// page cache. It tells how much of an access can be hidden on these cores at all.
std::unique_ptr<Background> ideal_background(Run const& run, Pattern const& pattern);

}  // namespace sluice::bench
