// Memory for the messages of an endpoint of libfabric, and what it remembers of each that is under
// way. Only sources of src/transport that have libfabric's headers include this file.
#pragma once
#include "transport/fabric_wire.hpp"

#include <deque>
#include <memory>
#include <rdma/fabric.h>
#include <vector>

namespace sluice {

struct FabricSlot {
    enum class Use : std::uint8_t { receive, send, write };
    fi_context2 context;  ///< The provider's while the message is under way; must be the first.
    Use use = Use::send;
    FabricIndex peer = 0;
    std::span<std::byte> memory;   ///< Of messages.
    void* write = nullptr;         ///< Of writes: the context that is given back.
    void* registration = nullptr;  ///< Of writes: of their bytes, or null.
};

/// What completions bring back.
[[nodiscard]] inline FabricSlot& slot_of(void* context) noexcept {
    return *static_cast<FabricSlot*>(context);
}

/// So many of equal size, in one piece of memory.
class FabricSlots {
public:
    FabricSlots() = default;
    FabricSlots(std::size_t count, std::size_t bytes, FabricSlot::Use use)
        : memory_(new std::byte[count * bytes]),
          bytes_(count * bytes),
          slots_(count) {
        for (std::size_t i = 0; i < count; ++i) {
            slots_[i].use = use;
            slots_[i].memory = {memory_.get() + i * bytes, bytes};
            free_.push_back(&slots_[i]);
        }
    }
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return {memory_.get(), bytes_}; }
    /// Null: all are under way.
    [[nodiscard]] FabricSlot* take() noexcept {
        if (free_.empty()) return nullptr;
        FabricSlot* const slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give_back(FabricSlot& slot) { free_.push_back(&slot); }
    [[nodiscard]] bool all_are_free() const noexcept { return free_.size() == slots_.size(); }

private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t bytes_ = 0;
    std::vector<FabricSlot> slots_;
    std::vector<FabricSlot*> free_;
};

/// Writes take their bytes from where they lie.
class FabricWrites {
public:
    [[nodiscard]] FabricSlot& take() {
        if (free_.empty()) {
            free_.push_back(&all_.emplace_back());
            all_.back().use = FabricSlot::Use::write;
        }
        FabricSlot& write = *free_.back();
        free_.pop_back();
        return write;
    }
    void give_back(FabricSlot& write) { free_.push_back(&write); }

private:
    std::deque<FabricSlot> all_;  ///< Addresses stay.
    std::vector<FabricSlot*> free_;
};

}  // namespace sluice
