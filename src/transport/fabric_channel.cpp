// How slots are counted. See fabric_channel.hpp.
#include "transport/fabric_channel.hpp"

namespace sluice {
namespace {

constexpr int told_a_look = 64;
/// With so many short messages that its peer has not taken, a connection may be full.
constexpr std::uint32_t messages_held = 8;

/// A half of the slots: the sender has not run out of them then.
std::uint32_t credited_at_once(FabricCard const& receiver) noexcept {
    return std::max<std::uint32_t>(receiver.slots / 2, 1);
}

}  // namespace

bool FabricChannel::owes_credits() const noexcept {
    return is_open_ && taken_ - told_credits_ >= credited_at_once(wire_.card());
}

void FabricChannel::note_behind() noexcept {
    auto const most = static_cast<std::int32_t>(std::max(credited_at_once(card_), messages_held));
    auto const missing = static_cast<std::int32_t>(needed_ - credited_);
    bool const is_behind = is_open_ && missing >= most;
    channels_behind_ += int{is_behind} - int{is_behind_};
    is_behind_ = is_behind;
}

WireResult FabricChannel::post(FabricHeader header, std::span<std::byte const> body) {
    bool const takes_slot = header.kind != FabricKind::credits;
    if (!is_open_ || (takes_slot && sent_ - credited_ >= card_.slots)) return WireResult::full;
    header.key = card_.key;
    header.from = wire_.card().name;
    header.credits = taken_;
    WireResult const result = wire_.send(peer_, std::as_bytes(std::span(&header, 1)), body);
    if (result != WireResult::taken) return result;
    told_credits_ = taken_;
    if (takes_slot) ++sent_;
    if (takes_slot && header.kind != FabricKind::ready) {
        needed_ = sent_;
        note_behind();
    }
    return result;
}

WireResult FabricChannel::post(Told const& told) {
    bool const has_target = told.header.kind == FabricKind::ready;
    return post(told.header, std::as_bytes(std::span(&told.target, has_target ? 1 : 0)));
}

/// What a lost peer would have been told waits as well: who notices ends all.
void FabricChannel::tell(FabricHeader const& header, FabricTarget const& target) {
    if (has_ended_) return;
    Told const told{header, target};
    if (!told_.empty() || post(told) != WireResult::taken) told_.push_back(told);
}

WireResult FabricChannel::post_told(bool& moved) {
    for (int left = told_a_look; left > 0 && !told_.empty(); --left) {
        WireResult const result = post(told_.front());
        if (result != WireResult::taken) return result;
        told_.pop_front();
        moved = true;
    }
    return WireResult::taken;
}

/// Messages may overtake each other: the most credits count.
void FabricChannel::take(FabricHeader const& header) noexcept {
    if (is_before(credited_, header.credits)) credited_ = header.credits;
    if (header.kind != FabricKind::credits) ++taken_;
    note_behind();
}

void FabricChannel::end() noexcept {
    is_open_ = false;
    has_ended_ = true;
    told_.clear();
    note_behind();
}

}  // namespace sluice
