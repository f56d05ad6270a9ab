// NodeDoorbells wake the ranks of a node. Each process sleeps on one event count, in a page that it
// shares with the node, and ranks that have something for it notify it.
#pragma once
#include "schedule/port.hpp"
#include "system/event_count.hpp"
#include "system/shared_memory.hpp"

#include <utility>
#include <vector>

namespace sluice {

/// The event count at the begin of a process's page.
[[nodiscard]] inline EventCount& doorbell_in(SharedMemory const& page) noexcept {
    return *reinterpret_cast<EventCount*>(page.data());
}

/// The doorbells of the ranks of a node, this process's own among them.
class NodeDoorbells final : public Doorbells {
public:
    /// `pages`: one for each rank, by local index.
    explicit NodeDoorbells(std::vector<SharedMemory> pages) noexcept : pages_(std::move(pages)) {}
    void ring(Rank local) override {
        notify_waiters(doorbell_in(pages_[static_cast<std::size_t>(local)]));
    }

private:
    std::vector<SharedMemory> pages_;
};

}  // namespace sluice
