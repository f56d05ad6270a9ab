// The doorbell of a process: one futex word in memory that the node shares. The helper sleeps on
// it; peers, storage threads and the caller ring it. A ring with nobody asleep is one atomic
// addition.
#pragma once
#include "ports/port.hpp"
#include "ports/shared_memory.hpp"

#include <vector>

namespace sluice {

struct alignas(64) BellWord {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleepers;
};

void ring(BellWord& bell) noexcept;

/// Sleeps until the bell was rung since `seen` was read from it, or the time is over.
void sleep_on(BellWord& bell, std::uint32_t seen, double seconds_max) noexcept;

/// The bells of the ranks of a node, this process's own among them.
class NodeBells final : public Bells {
public:
    explicit NodeBells(std::vector<SharedMemory> pages) noexcept : pages_(std::move(pages)) {}
    void ring(Rank local) override;

private:
    std::vector<SharedMemory> pages_;  ///< By local index; one page each.
};

}  // namespace sluice
