// Who takes part in a comparison: Sluice, the MPI's own calls with some hints, the same in a helper
// thread, and the machine's limit. Each has a file of its own and makes the same accesses.
#pragma once
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

    // Collective, all of them, but for access() of the limit. The pattern is the same from open()
    // to close().
    /// What open() needs to know of the pattern and should not be timed.
    virtual void prepare(Pattern const&) {}
    virtual void open(Run const& run, Pattern const& pattern) = 0;
    /// Back to the begin of the file.
    virtual void rewind() = 0;
    virtual void access(Pattern const& pattern, std::vector<double>& buffer, bool writes) = 0;
    virtual void close() = 0;

    /// After a write; closed or not.
    virtual std::uint64_t wrong_in_file(Run const& run, Pattern const& pattern,
                                        std::uint64_t seed) = 0;
    /// Makes the file that reads find; not by the calls under test.
    virtual void provide_file(Run const& run, Pattern const& pattern, std::vector<double>& buffer,
                              std::uint64_t seed) = 0;
};

/// Collective calls of MPI. `hints` with sluice=disable make it the MPI's own.
std::unique_ptr<Contender> mpi_contender(std::string name, std::string path,
                                         std::vector<std::string> hints);

/// The same calls in a thread behind a generalized request; needs MPI_THREAD_MULTIPLE.
std::unique_ptr<Contender> thread_contender(std::string name, std::string path,
                                            std::vector<std::string> hints);

/// No MPI: every rank copies each of its pieces once between user memory and a buffer that stays in
/// cache, and transfers that buffer contiguously, to and from a place of its own in the file.
std::unique_ptr<Contender> limit_contender(std::string name, std::string path);

/// Hints of the MPI's own that are tried, a list of key=value each; the first is empty (default).
/// docs/results.md prints them.
std::vector<std::vector<std::string>> hint_grid(int ranks);

}  // namespace sluice::bench
