// Who takes part in a comparison: Sluice, the MPI's own calls with some hints, the same in a helper
// thread, MPI_Alltoallv and POSIX calls by hand, and the machine's limit; from a GPU, copies by
// hand as well. Each has a file of its own and makes the same accesses.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/file/access.hpp"

namespace sluice::bench {

class Contender {
public:
    Contender() = default;
    Contender(Contender const&) = delete;
    Contender& operator=(Contender const&) = delete;
    virtual ~Contender() = default;

    std::string name, path;
    std::vector<std::string> hints;  ///< key=value, beside those that all contenders get.

    bool from_host = false;  ///< Memory of its accesses is the host's in any case.

    // Collective, all of them, but for access() of the limits. The pattern is the same from open()
    // to close().
    /// What open() needs to know of the pattern and should not be timed.
    virtual void prepare(Pattern const&) {}
    virtual void open(Run const& run, Pattern const& pattern) = 0;
    /// Back to the begin of the file.
    virtual void rewind() = 0;
    virtual void access(Pattern const& pattern, std::span<double> memory, bool writes) = 0;
    /// Not timed: until what an access may have delayed is in the file.
    virtual void settle() {}
    virtual void close() = 0;

    /// After a write; closed or not.
    virtual std::uint64_t wrong_in_file(Run const& run, Pattern const& pattern,
                                        std::uint64_t seed) = 0;
    /// Makes the file that reads find; not by the calls under test. `host` is for its use.
    virtual void provide_file(Run const& run, Pattern const& pattern, std::span<double> host,
                              std::uint64_t seed) = 0;
};

/// Collective calls of MPI. `hints` with sluice=disable make it the MPI's own.
std::unique_ptr<Contender> mpi_contender(std::string name, std::string path,
                                         std::vector<std::string> hints);

/// The same calls in a thread behind a generalized request; needs MPI_THREAD_MULTIPLE.
std::unique_ptr<Contender> thread_contender(std::string name, std::string path,
                                            std::vector<std::string> hints);

/// MPI_Alltoallv, and one contiguous POSIX transfer of each rank. The file may have no holes.
std::unique_ptr<Contender> by_hand_contender(std::string name, std::string path);

/// No MPI: every rank copies each of its pieces once between user memory and a buffer that stays in
/// cache, and transfers that buffer contiguously, to and from a place of its own in the file.
std::unique_ptr<Contender> limit_contender(std::string name, std::string path);

/// Copies by hand between the GPU and memory of the host, pinned or not, and makes the accesses of
/// another contender from there.
std::unique_ptr<Contender> staged_contender(std::unique_ptr<Contender> inner, Gpu const& gpu,
                                            bool is_pinned);

/// No MPI and no file: every rank copies its access at once, contiguously, between the GPU and
/// registered shared memory of the host. For patterns whose memory has no gaps.
std::unique_ptr<Contender> device_limit_contender(std::string name, Gpu const& gpu);

/// Collective. Each rank writes an even part of the file that reads find, by POSIX calls.
void write_file(Run const& run, Pattern const& pattern, std::string const& path,
                std::uint64_t seed);

/// Hints of the MPI's own that are tried, a list of key=value each; the first is empty (default).
/// docs/results.md prints them.
std::vector<std::vector<std::string>> hint_grid(int ranks);

/// The hints of the grid with which `seconds_with` takes the shortest; a step of the progress each.
/// It is also told from how many seconds on it need not measure again: the hints are hopeless, or
/// the time is long enough to be known from one access.
std::vector<std::string> best_of_grid(
    Run const& run, std::string const& label,
    std::function<double(std::vector<std::string> const&, double enough)> const& seconds_with);

}  // namespace sluice::bench
