// How peers are found, and which of them are moved on. See fabric_messages.hpp.
#include "transport/fabric_messages.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr double seconds_between_looks = 0.01;

}  // namespace

FabricIndex FabricMessages::index_of(std::uint64_t name) {
    auto const [found, is_new] =
        by_name_.try_emplace(name, static_cast<FabricIndex>(peers_.size()));
    if (is_new) {
        peers_.push_back(std::make_unique<FabricPeer>(shared_, found->second));
        is_busy_.push_back(false);
        is_known_lost_.push_back(false);
    }
    return found->second;
}

FabricIndex FabricMessages::meet(FabricCard const& card) {
    FabricIndex const index = index_of(card.name);
    if (!peers_[index]->is_met()) peers_[index]->meet(card);
    note_busy(index);
    return index;
}

void FabricMessages::note_busy(FabricIndex peer) {
    FabricPeer const& its = *peers_[peer];
    if (its.is_gone() && !is_known_lost_[peer]) {
        is_known_lost_[peer] = true;
        lost_.push_back(peer);
    }
    if (is_busy_[peer] || !its.has_waiting()) return;
    is_busy_[peer] = true;
    busy_.push_back(peer);
}

Message FabricMessages::started(MessageDesc* message, FabricIndex peer) {
    note_busy(peer);
    if (!message) return {};
    ++under_way_;
    return {reinterpret_cast<std::uintptr_t>(message)};
}

Message FabricMessages::start_send(FabricIndex peer, std::uint64_t context, int tag,
                                   std::span<std::byte const> bytes, bool synchronous) {
    return started(peers_[peer]->send(context, tag, bytes, synchronous), peer);
}

Message FabricMessages::start_placing_send(FabricIndex peer, std::uint64_t context, int tag,
                                           std::span<std::byte const> bytes,
                                           std::span<PlacedPart const> parts) {
    return started(&peers_[peer]->send_parts(context, tag, bytes, parts), peer);
}

Message FabricMessages::start_recv(FabricIndex peer, std::uint64_t context, int tag,
                                   std::span<std::byte> bytes, std::span<std::byte> target) {
    return started(&peers_[peer]->receive(context, tag, bytes, target), peer);
}

bool FabricMessages::finished(Message& message) {
    if (message.handle == 0) return true;
    auto& its = *reinterpret_cast<MessageDesc*>(message.handle);  // NOLINT: it was one.
    if (!its.done) return false;
    its.report(message);
    shared_.message_descs.recycle(its);
    --under_way_;
    return true;
}

void FabricMessages::give_up(FabricIndex peer, std::uint64_t context) {
    peers_[peer]->give_up(context);
    note_busy(peer);
}

void FabricMessages::abandon(FabricIndex peer, std::uint64_t context) {
    peers_[peer]->abandon(context);
    note_busy(peer);
}

void FabricMessages::forget(std::uint64_t context) {
    for (auto const& peer : peers_) peer->forget(context);
}

bool FabricMessages::all_take_part(std::uint64_t context,
                                   std::span<FabricIndex const> peers) const noexcept {
    return std::all_of(peers.begin(), peers.end(),
                       [&](FabricIndex peer) { return peers_[peer]->takes_part(context); });
}

/// A message of a process that this one has not met yet is kept by its peer: all ranks of a
/// communicator tell their cards at once, but not all of them hear of it at the same time.
void FabricMessages::take(std::span<std::byte const> message) {
    FabricHeader header;
    if (message.size() < sizeof header) return;
    std::memcpy(&header, message.data(), sizeof header);
    if (header.key != shared_.own.key || header.kind > FabricKind::credits) return;
    FabricIndex const index = index_of(header.from);
    peers_[index]->take(header, message.subspan(sizeof header));
    note_busy(index);
}

void FabricMessages::take_write(std::uint64_t data) {
    WriteData const what = WriteData::unpack(data, shared_.wire.data_bits());
    auto const* const place = shared_.receives.find(what.receive);
    if (place) peers_[place->peer]->take_write(*place->receive, what.bytes);
}

void FabricMessages::end_write(void* context) {
    auto& send = *static_cast<MessageDesc*>(context);
    peers_[send.peer]->end_write(send);
}

void FabricMessages::lose(FabricIndex peer) {
    peers_[peer]->end_all();
    note_busy(peer);
}

std::vector<FabricIndex> FabricMessages::awaited() const {
    std::vector<FabricIndex> all;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (peers_[i]->expects_any()) all.push_back(static_cast<FabricIndex>(i));
    }
    return all;
}

bool FabricMessages::move(double now) {
    if ((under_way_ > 0 || has_untaken()) && now - looked_at_ > seconds_between_looks) {
        looked_at_ = now;
        for (FabricIndex const peer : awaited()) {
            peers_[peer]->look_after(now);
            note_busy(peer);
        }
    }
    bool moved = false;
    for (std::size_t i = 0; i < busy_.size();) {
        FabricIndex const peer = busy_[i];
        moved |= peers_[peer]->move();
        if (peers_[peer]->has_waiting()) {
            ++i;
            continue;
        }
        is_busy_[peer] = false;
        busy_[i] = busy_.back();
        busy_.pop_back();
        note_busy(peer);  // It may be lost.
    }
    return moved;
}

}  // namespace sluice
