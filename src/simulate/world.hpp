// The simulated twins of all ports: a world of ranks in one process, in virtual time, from a seed.
// Delays and orders are drawn; storage gives short counts and fails on demand. The operations that
// run on them are the shipped ones. A failure is told by its seed.
#pragma once
#include "ports/posix.hpp"
#include "run/stream.hpp"

#include <map>
#include <queue>
#include <random>

namespace sluice::simulated {

/// Events in virtual time.
class Time final : public Clock {
public:
    explicit Time(std::uint64_t seed) : random_(seed) {}
    double now() override { return now_; }
    /// Calls `what` after a drawn delay of at most `seconds_max`.
    void later(double seconds_max, std::function<void()> what);
    /// Runs events until none is left; false when more than `events_max` happened: a livelock.
    bool run(std::int64_t events_max);
    /// A drawn number in [0, below).
    std::uint64_t draw(std::uint64_t below) { return random_() % below; }

private:
    struct Event {
        double when;
        std::int64_t number;
        std::function<void()> what;
        bool operator>(Event const& o) const noexcept {
            return when != o.when ? when > o.when : number > o.number;
        }
    };
    std::mt19937_64 random_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    double now_ = 0;
    std::int64_t number_ = 0;
};

/// A file in memory, shared by all ranks, with faults.
struct File {
    std::vector<std::byte> bytes;
    std::int64_t calls = 0;
    std::int64_t fail_at = -1;  ///< Number of the call that fails, from 0.
    bool fail_forever = false;  ///< All calls from then on.
    int fail_errno = 28;        ///< ENOSPC.
    bool short_counts = false;  ///< Calls transfer a drawn part of what is asked.
};

struct WorldShape {
    Rank rank_count = 1;
    Rank ranks_per_node = 1;
    Bytes slot_bytes = 4096;
    std::int32_t aggregators = 2;
    double delay_seconds = 1e-3;    ///< Upper bound of every drawn delay.
    std::int32_t stream_count = 1;  ///< Files that each rank has open.
};

class World {
public:
    World(WorldShape shape, std::uint64_t seed);
    ~World();

    File& file(std::int32_t stream) { return files_[static_cast<std::size_t>(stream)]; }
    Storage& storage(Rank rank, std::int32_t stream);
    Topology const& topology() const noexcept { return topology_; }
    Time& time() noexcept { return time_; }

    /// The rank makes a collective call; it begins at a drawn time.
    std::shared_ptr<Operation> call(Rank rank, std::int32_t stream, Call what);

    /// Until nothing happens any more. Empty when all operations are complete, else what is stuck.
    std::string run();

private:
    struct RankState;
    class RankBells;
    class RankNetwork;
    class RankStorage;
    struct Mail;

    void wake(Rank rank);
    void progress(Rank rank);

    WorldShape shape_;
    Time time_;
    Topology topology_;
    std::vector<File> files_;
    std::vector<std::vector<std::vector<std::byte>>> windows_;  ///< By stream and node.
    std::unique_ptr<Mail> mail_;
    std::vector<std::unique_ptr<RankState>> ranks_;
};

}  // namespace sluice::simulated
