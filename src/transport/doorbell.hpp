// The doorbell of a process: one futex word in memory that the node shares. The helper sleeps on
// it; peers, storage threads and the caller ring it. A ring with nobody asleep is one atomic
// addition for threads of the same process, and one look for its peers, who send many messages.
#pragma once
#include "schedule/port.hpp"
#include "system/shared_memory.hpp"

#include <vector>

namespace sluice {

struct alignas(64) DoorbellWord {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleepers;
};

void ring(DoorbellWord& doorbell) noexcept;

/// The same, only where somebody sleeps: what was stored before is seen by a Sleeper that looks
/// again after announce().
void ring_sleepers(DoorbellWord& doorbell) noexcept;

/// Sleeps until the doorbell was rung since `seen` was read from it, or the time is over.
void sleep_on(DoorbellWord& doorbell, std::uint32_t seen, double seconds_max) noexcept;

/// One that peers ring: before it sleeps it says so, and looks again.
class Sleeper {
public:
    explicit Sleeper(DoorbellWord& doorbell) noexcept : doorbell_(doorbell) {}
    Sleeper(Sleeper const&) = delete;
    Sleeper& operator=(Sleeper const&) = delete;
    ~Sleeper() { withdraw(); }

    /// True: it has to look again, as peers did not know. False: it was announced before. For a nap
    /// only, what a peer stored in this moment may be overlooked; `for_long` not, which costs some
    /// microseconds, also on other cores.
    bool announce(bool for_long = false) noexcept;
    void withdraw() noexcept;
    /// As sleep_on(); naps only where it was not announced for long, or the system cannot do that.
    void sleep(std::uint32_t seen, double seconds_max) noexcept;

private:
    DoorbellWord& doorbell_;
    bool announced_ = false, reached_all_ = false;
};

/// The doorbells of the ranks of a node, this process's own among them.
class NodeDoorbells final : public Doorbells {
public:
    explicit NodeDoorbells(std::vector<SharedMemory> pages) noexcept : pages_(std::move(pages)) {}
    void ring(Rank local) override;

private:
    std::vector<SharedMemory> pages_;  ///< By local index; one page each.
};

}  // namespace sluice
