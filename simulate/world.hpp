// A World simulates all ports: its ranks live in one process and one thread, in virtual time, from
// a seed. A model says when things happen; storage gives short counts and fails on demand. The
// operations that run in it are the shipped ones. The seed repeats a failure.
#pragma once
#include "collective/operations.hpp"
#include "file/run/operation_queue.hpp"
#include "simulate/accounts.hpp"
#include "simulate/model.hpp"
#include "simulate/simulated_device.hpp"
#include "storage/posix.hpp"
#include "system/shared_memory.hpp"

#include <deque>
#include <memory>

namespace sluice::simulated {

/// A file in memory, shared by all ranks, with faults.
struct File {
    std::vector<std::byte> bytes;
    bool is_stored = true;   ///< False: the file has a length only; what is written is forgotten.
    std::size_t length = 0;  ///< Of a file that is not stored.
    std::int64_t calls = 0;
    std::int64_t fail_at = -1;  ///< Number of the call that fails, from 0.
    bool fail_forever = false;  ///< All calls from then on.
    int fail_errno = 28;        ///< ENOSPC.
    bool short_counts = false;  ///< Calls transfer a drawn part of what is asked.

    [[nodiscard]] std::size_t size() const { return is_stored ? bytes.size() : length; }
    void grow(std::size_t to) {
        if (is_stored)
            bytes.resize(to);
        else
            length = to;
    }
};

struct WorldShape {
    Rank rank_count = 1;
    Rank ranks_per_node = 1;
    Bytes cb_buffer_bytes = 4096;
    std::int32_t aggregators = 2;  ///< That plans have where the hints of a call say nothing.
    /// That a plan may have, because a node's memory has boards for so many; 0: no more than
    /// `aggregators`.
    std::int32_t aggregators_most = 0;
    double delay_seconds = 1e-3;   ///< Upper bound of every drawn delay.
    std::int32_t queue_count = 1;  ///< Files that each rank has open.
    Costs costs{};                 ///< What the ranks believe that messages cost.
    std::shared_ptr<MachineProfile const> machine{};  ///< What they believe of all the rest.
    Rank local_aggregators = 0;  ///< As Topology::divided() has them; 0: nodes are not divided.
    /// Collective buffers that a node's memory has room for, beside the last resort of each
    /// operation queue; negative: for all.
    std::int32_t cb_buffers = -1;
};

/// Told when a rank's own work begins and ends, without that of the twins: for who measures what
/// the library really costs.
class Meter {
public:
    virtual void begin(Rank rank) = 0;
    virtual void end(Rank rank) = 0;

protected:
    ~Meter() = default;
};

class World final : private Waker, private Handler, private Work {
public:
    /// All delays are drawn.
    World(WorldShape shape, std::uint64_t seed);
    World(WorldShape shape, std::uint64_t seed, std::unique_ptr<Model> model);
    ~World() override;

    File& file(std::int32_t queue) { return files_[static_cast<std::size_t>(queue)]; }
    Storage& storage(Rank rank, std::int32_t queue);
    /// Memory that this rank's processor does not reach.
    SimulatedDevice& device(Rank rank);
    Topology const& topology() const noexcept { return topology_; }
    Time& time() noexcept { return time_; }

    /// The rank makes a collective call; it begins when the model wakes the rank.
    std::shared_ptr<Operation> call(Rank rank, std::int32_t queue, Call what);

    /// The rank makes a collective call between memories, the `number`th of its kind on this rank.
    std::shared_ptr<CollectiveState> collective(Rank rank, CollectiveStage stage,
                                                std::uint64_t number);

    /// The rank's process ends when it has made progress so many times more. The others notice
    /// after a second, each at a time of its own. For worlds of one node.
    void kill(Rank rank, std::int64_t after);

    /// Until nothing happens any more. Empty when all operations are complete and every message
    /// found its receive, else what is wrong: also that more than `events_max` events happened.
    std::string run(std::int64_t events_max = 2'000'000'000);

    /// Where the rank's time went in the operations of its first operation queue.
    [[nodiscard]] Parts const& parts(Rank rank) const noexcept;
    [[nodiscard]] MailCounts const& mail_of(Rank rank) const noexcept { return mail_.counts(rank); }

    /// Collective buffers of the node that have a round, and those that have ever had one.
    [[nodiscard]] std::int32_t cb_buffers_in_use(std::int32_t queue, Node node) const;
    [[nodiscard]] std::int32_t cb_buffers_made(std::int32_t queue, Node node) const;

    /// Tells `meter` about all progress from now on.
    void measure(Meter& meter) noexcept { meter_ = &meter; }

private:
    struct RankState;
    class RankDoorbells;
    class RankNetwork;
    class RankStorage;
    class Pause;
    enum class Event : std::uint32_t {
        progress,
        post_send,
        post_recv,
        transfer,
        served,
        transferred
    };

    void add_rank(Rank rank);
    [[nodiscard]] RegionShape region_shape(Node node) const noexcept;
    [[nodiscard]] SharedRegion region(std::int32_t queue, Node node) const;
    void stage(ExecutionContext& execution_context) const;
    void wake(Rank rank) override;
    void happened(std::uint32_t kind, std::uint64_t subject) override;
    void progress(Rank rank);
    void post(LetterId id, bool is_send);
    void done(Bytes copied, std::int64_t pieces) override;
    void ask_for_transfer(Rank rank, RankStorage& storage, Transfer& transfer);
    void begin_transfer(std::size_t number);
    void serve_next(std::size_t number);
    void finish_transfer(std::size_t number);
    void note(Rank rank);
    [[nodiscard]] Error lost_rank(Rank self, double now) const noexcept;
    [[nodiscard]] double notices_at(Rank self) const noexcept;
    void let_end();
    [[nodiscard]] bool has_ended(Rank rank) const noexcept {
        return rank == mortal_ && lives_for_ == 0;
    }
    [[nodiscard]] double later() { return time_.now() + spent_; }

    WorldShape shape_;
    Time time_;
    std::shared_ptr<FingerprintKey const> key_;
    Topology topology_;
    std::unique_ptr<Model> model_;
    Mail mail_;
    std::vector<File> files_;
    std::vector<std::vector<SharedMemory>> region_memory_;  ///< By operation queue and node.
    std::vector<std::unique_ptr<RankState>> ranks_;
    struct Pending {  ///< A transfer under way.
        Rank rank;
        RankStorage* storage;
        Transfer* transfer;
        std::vector<DeviceAccess> calls{};  ///< That are left, where each has a time of its own.
    };
    std::vector<Pending> pending_;
    std::vector<std::size_t> pending_free_;
    Meter* meter_ = nullptr;
    Rank mortal_ = -1;             ///< Whose process will end; negative: none.
    std::int64_t lives_for_ = -1;  ///< So many times more it makes progress.
    double ended_at_ = -1;         ///< When a rank's process ended; negative: all live.
    Rank current_ = -1;            ///< Who makes progress.
    double spent_ = 0;             ///< By its processor since it began to.
};

}  // namespace sluice::simulated
