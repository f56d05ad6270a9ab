// A FabricChannel posts messages to one peer while the peer has slots for them, and counts the
// credits for slots, both ways. What the peer is told beside the program's messages waits in it for
// room.
#pragma once
#include "transport/fabric_header.hpp"
#include "transport/fabric_wire.hpp"

namespace sluice {

class FabricChannel {
public:
    /// `wire` outlives this, as `channels_behind` does: how many channels are behind.
    FabricChannel(FabricWire& wire, FabricIndex peer, int& channels_behind) noexcept
        : wire_(wire),
          peer_(peer),
          channels_behind_(channels_behind) {}

    /// Before that all messages wait.
    void meet(FabricCard const& card) noexcept {
        card_ = card;
        is_open_ = true;
    }
    [[nodiscard]] FabricCard const& card() const noexcept { return card_; }
    [[nodiscard]] WireResult post(FabricHeader header, std::span<std::byte const> body = {});
    /// Now, or before all messages that are posted later; `target`: of a `ready`.
    void tell(FabricHeader const& header, FabricTarget const& target = {});
    /// Whether the peer has been told all, so that messages may be posted.
    [[nodiscard]] bool has_told_all() const noexcept { return told_.empty(); }
    /// Posts what the peer is told and has waited; bounded. Sets `moved` when anything went.
    [[nodiscard]] WireResult post_told(bool& moved);
    /// Whether the peer lacks so many credits that it is told of them alone, where no message that
    /// goes has brought them.
    [[nodiscard]] bool owes_credits() const noexcept;
    /// They need no slot.
    [[nodiscard]] WireResult post_credits() { return post({.kind = FabricKind::credits}); }
    [[nodiscard]] bool has_waiting() const noexcept { return !told_.empty() || owes_credits(); }
    /// A message came.
    void take(FabricHeader const& header) noexcept;
    /// Whether the peer would have credited some messages had it taken those that it needs. The
    /// wire may still have them.
    [[nodiscard]] bool is_behind() const noexcept { return is_behind_; }
    /// What the peer would be told of these messages is dropped.
    template <class Fits> void drop(Fits const& fits) {
        std::erase_if(told_, [&](Told const& told) { return fits(told.header.message); });
    }
    /// Nothing goes any more.
    void end() noexcept;

private:
    struct Told {
        FabricHeader header;
        FabricTarget target;
    };
    [[nodiscard]] WireResult post(Told const& told);
    void note_behind() noexcept;

    FabricWire& wire_;
    FabricIndex peer_;
    int& channels_behind_;
    FabricCard card_;
    bool is_open_ = false, has_ended_ = false, is_behind_ = false;
    std::uint32_t sent_ = 0, credited_ = 0;       ///< Messages that take a slot there; credits.
    std::uint32_t taken_ = 0, told_credits_ = 0;  ///< The same here.
    /// Up to this one it waits for them. Of memory that it is shown it may need none, and then it
    /// may take no more.
    std::uint32_t needed_ = 0;
    std::deque<Told> told_;
};

}  // namespace sluice
