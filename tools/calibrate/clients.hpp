// Clients of the storage: threads of the ranks, each with one request under way at any time.
#pragma once
#include "storage/posix.hpp"
#include "tools/calibrate/calibrate.hpp"
#include "tools/calibrate/points.hpp"

#include <memory>

namespace sluice::calibrate {

class Clients {
public:
    Clients(Job const& job, std::string const& path, PageCache page_cache);

    /// Rank 0 writes the file, until it has so many bytes or the time is over. Returns its size.
    Bytes fill(Bytes bytes, Bytes bytes_least, double seconds);

    /// Seconds from the first request's begin to the last one's end. Sequential clients have asked
    /// for what lies before their first timed request.
    double time(Point const& point, Bytes file_bytes, std::int64_t requests);

    /// How the requests went, with direct I/O.
    [[nodiscard]] DirectIoTally direct_io_tally() { return file_.direct_io_tally(); }

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    static Memory memory_of_a_client(int seed);

    void request(Direction way, Offset at, std::byte* memory, Bytes bytes);
    void walk(Point const& point, Bytes file_bytes, std::int32_t client, std::int64_t begin,
              std::int64_t end, std::byte* memory);

    Job const& job_;
    WorkerPool no_threads_{0};  ///< Clients wait for the device themselves.
    PosixFile file_;
    std::vector<Memory> memory_;  ///< Of this rank's clients.
    std::int64_t before_ = 0;     ///< Requests of all clients in earlier trials.
};

}  // namespace sluice::calibrate
