// ShownReceives are the receives of a process to whose memory its peers may write, by the numbers
// that the peers were told. A write may come late, when its receive is over: so no number is used
// again soon.
#pragma once
#include "transport/fabric_header.hpp"
#include "transport/fabric_wire.hpp"

#include <unordered_map>

namespace sluice {

struct FabricReceive : StartedMessage {
    FabricReceive* next = nullptr;
    FabricIndex peer = 0;
    std::span<std::byte> target;  ///< Where parts go.
    bool is_shown = false;        ///< The peer was told of its memory,
    std::uint32_t number = 0;     ///< under this number.
    std::array<void*, 2> registrations{};
    std::uint64_t came = 0, expected = 0;  ///< Writes; 0: it is not known how many come.
    std::uint64_t placed = 0;              ///< Bytes of parts.
};

class ShownReceives {
public:
    /// Where writes go; `target`: those of parts.
    struct Places {
        FabricTarget memory, target;
    };
    /// `wire` outlives this.
    explicit ShownReceives(FabricWire& wire) noexcept : wire_(wire) {}

    /// Gives it a number. Nothing where the provider refuses.
    [[nodiscard]] std::optional<Places> show(FabricReceive& receive);
    /// Peers cannot write to it any more; to memory that is held they could, but are told no more
    /// of. Nothing where it is not shown.
    void hide(FabricReceive& receive);
    /// Null: there is none of this number.
    [[nodiscard]] FabricReceive* find(std::uint32_t number) const noexcept {
        auto const found = receives_.find(number);
        return found == receives_.end() ? nullptr : found->second;
    }

private:
    FabricWire& wire_;
    std::unordered_map<std::uint32_t, FabricReceive*> receives_;
    std::uint32_t next_ = 0;
};

}  // namespace sluice
