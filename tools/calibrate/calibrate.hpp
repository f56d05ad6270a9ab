// What the parts of sluice-calibrate share: options, the ranks, how to give up. Every part fills
// its numbers of the profile; all are collective over MPI_COMM_WORLD.
#pragma once
#include "base/machine.hpp"
#include "base/page_cache.hpp"
#include "bench/measure/progress.hpp"
#include "bench/measure/timing.hpp"
#include "system/descriptor.hpp"

#include <string>
#include <vector>

namespace sluice::calibrate {

struct Options {
    std::string directory = ".";
    std::string out;      ///< Empty: where the library looks for it.
    double seconds = 20;  ///< Of all measurements, more or less.
    PageCache page_cache = PageCache::keep;
    Bytes file_bytes = Bytes{256} << 20;  ///< At most.
    bool progress = false;
};

/// One run of the program.
struct Job {
    Options options;
    int rank = 0, ranks = 1;
    std::vector<int> nodes;  ///< By rank: the lowest rank of its node.
    bench::Progress* progress = nullptr;

    [[nodiscard]] int node() const { return nodes[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool one_node() const;
    /// Ranks of the node of rank 0, ranks of other nodes.
    [[nodiscard]] std::vector<int> near() const;
    [[nodiscard]] std::vector<int> far() const;
};

/// Rank 0's value, on all ranks.
double of_rank_0(double value);

/// Ends the job with a message; scratch files are removed.
[[noreturn]] void give_up(std::string const& why);

/// A file that is removed when it goes out of scope, when the job is given up, and at signals that
/// end the program; by rank 0. At most two at once. For the ranks of one node it never has a name,
/// where the file system can do that: then it cannot be left behind, however the job ends.
class Scratch {
public:
    enum class Reach { node, world };  ///< Whose ranks open it: those of rank 0's node, or all.
    Scratch(Job const& job, std::string const& folder, char const* name, Reach reach);
    ~Scratch();
    Scratch(Scratch const&) = delete;
    Scratch& operator=(Scratch const&) = delete;
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    /// Now, when all ranks have opened it, which keep it until they close it: launchers may end a
    /// job without a signal that could be heard, or while a rank waits for a device. Collective.
    void remove();

private:
    std::string path_;
    bool mine_;            ///< To be removed by this rank.
    Descriptor nameless_;  ///< Of the file without a name, on rank 0.
};

/// Times of requests to the storage under the options' directory.
struct StorageFacts {
    Bytes file_bytes = 0;
    bool in_page_cache = false;  ///< The system keeps the file in memory.
    int turns = 0;               ///< How often points were timed, at most.
};
StorageFacts measure_storage(Job const& job, double seconds, MachineProfile& profile);

/// Messages of the MPI within and between nodes.
void measure_messages(Job const& job, double seconds, MachineProfile& profile);

/// Copies, planning, and waking each other: of processors and memory.
void measure_work(Job const& job, double seconds, MachineProfile& profile);

/// The library is there and serves calls.
bool is_served();

/// Collective calls of the library.
void measure_calls(Job const& job, double seconds, MachineProfile& profile);

/// Calls that follow no other at once, on the storage. After all the rest: what the model says of
/// them without this number is what they take longer than.
void measure_pauses(Job const& job, double seconds, MachineProfile& profile);

}  // namespace sluice::calibrate
