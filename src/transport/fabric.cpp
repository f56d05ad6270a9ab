// How peers are found and moved on, and how several threads use one endpoint. See fabric.hpp.
#include "transport/fabric.hpp"

#include "system/clock.hpp"

namespace sluice {
namespace {

constexpr double seconds_between_looks = 0.01;

/// A store in the order of all threads costs; a look does not.
void store_changed(std::atomic<bool>& stored, bool value) noexcept {
    if (stored.load(std::memory_order_relaxed) != value) stored = value;
}

}  // namespace

std::unique_ptr<Fabric> Fabric::open(FabricOptions const& options, std::string& why) {
    static SteadyClock clock;
    auto wire = open_libfabric(options, why);
    return wire ? std::make_unique<Fabric>(std::move(wire), clock) : nullptr;
}

template <class Act> auto Fabric::locked(Act const& act) {
    std::lock_guard const lock(mutex_);
    auto const result = act();
    note_state();
    return result;
}

/// Who finds that it is not busy, or that nothing waits, may sleep for long. Both are stored so
/// that one who looks before it sleeps and one who looks whether it sleeps do not miss each other.
void Fabric::note_state() {
    bool const waits = !busy_.empty();
    bool const unsent = waits || wire_->has_sends() || shared_.peers_behind > 0;
    bool const is_idle = under_way() == 0 && !unsent;
    bool const waits_for_room = waits || wire_->has_unposted();
    bool const lingers = linger_.goes_on(is_idle, shared_.written_bytes, clock_);
    has_unsent_.store(unsent, std::memory_order_relaxed);
    store_changed(waits_for_room_, waits_for_room);
    store_changed(is_busy_, !is_idle || waits_for_room || lingers);
    ends_.store(shared_.ends, std::memory_order_relaxed);
}

FabricIndex Fabric::index_of(std::uint64_t name) {
    auto const [found, is_new] =
        by_name_.try_emplace(name, static_cast<FabricIndex>(peers_.size()));
    if (is_new) peers_.emplace_back(shared_, found->second);
    return found->second;
}

void Fabric::note_busy(FabricIndex peer) {
    if (peers_[peer].has_waiting()) busy_.insert(peer);
}

FabricIndex Fabric::meet(FabricCard const& card) {
    return locked([&] {
        FabricIndex const index = index_of(card.name);
        if (!peers_[index].is_met()) peers_[index].meet(card);
        note_busy(index);
        return index;
    });
}

Message Fabric::start_send(FabricIndex peer, std::uint64_t context, int tag,
                           std::span<std::byte const> bytes, bool synchronous,
                           std::span<PlacedPart const> parts) {
    return locked([&] {
        FabricSend& send = peers_[peer].send(context, tag, bytes, parts, synchronous);
        note_busy(peer);
        ++under_way_;
        return FabricMessages::handle_of(send);
    });
}

Message Fabric::start_recv(FabricIndex peer, std::uint64_t context, int tag,
                           std::span<std::byte> bytes, std::span<std::byte> target) {
    return locked([&] {
        FabricReceive& receive = peers_[peer].receive(context, tag, bytes, target);
        note_busy(peer);
        ++under_way_;
        return FabricMessages::handle_of(receive);
    });
}

bool Fabric::finished(Message& message) {
    return locked([&] {
        bool const is_known = message.handle != 0;
        bool const is_done = shared_.messages.finished(message);
        if (is_known && is_done) --under_way_;
        return is_done;
    });
}

void Fabric::hold(std::uint64_t context, std::span<std::byte> memory) {
    std::lock_guard const lock(mutex_);
    wire_->hold(context, memory);
}

void Fabric::end(std::uint64_t context, std::span<FabricIndex const> peers, bool tells) {
    std::lock_guard const lock(mutex_);
    for (FabricIndex const peer : peers) {
        peers_[peer].end(context, tells);
        note_busy(peer);
    }
    note_state();
}

bool Fabric::all_take_part(std::uint64_t context, std::span<FabricIndex const> peers) {
    std::lock_guard const lock(mutex_);
    return std::ranges::none_of(
        peers, [&](FabricIndex peer) { return peers_[peer].why_none(context) != nullptr; });
}

void Fabric::forget(std::uint64_t context) {
    std::lock_guard const lock(mutex_);
    for (FabricPeer& peer : peers_) peer.forget(context);
    wire_->release(context);
}

/// A message of a process that this one has not met yet is kept by its peer: all ranks of a
/// communicator tell their cards at once, but not all of them hear of it at the same time.
void Fabric::take(std::span<std::byte const> message) {
    FabricHeader header;
    if (message.size() < sizeof header) return;
    std::memcpy(&header, message.data(), sizeof header);
    if (header.key != card().key || header.kind > FabricKind::credits) return;
    FabricIndex const index = index_of(header.from);
    peers_[index].take(header, message.subspan(sizeof header));
    note_busy(index);
}

void Fabric::take_write(std::uint64_t data) {
    FabricWriteData const what = FabricWriteData::unpack(data, wire_->data_bits());
    FabricReceive* const receive = shared_.shown.find(what.receive);
    if (receive) peers_[receive->peer].take_write(*receive, what.bytes);
}

void Fabric::end_write(void* context) {
    auto& send = *static_cast<FabricSend*>(context);
    peers_[send.peer].end_write(send);
}

void Fabric::end(FabricIndex peer) { peers_[peer].end(); }

bool Fabric::move_peers() {
    double const now = clock_.now();
    bool const expects_any = under_way() > 0 || shared_.peers_behind > 0;
    if (expects_any && now - looked_at_ > seconds_between_looks) {
        looked_at_ = now;
        for (FabricIndex peer = 0; peer < peers_.size(); ++peer) {
            if (!peers_[peer].expects_any()) continue;
            peers_[peer].look_after(now);
            note_busy(peer);
        }
    }
    bool moved = false;
    for (auto at = busy_.begin(); at != busy_.end();) {
        moved |= peers_[*at].move();
        at = peers_[*at].has_waiting() ? std::next(at) : busy_.erase(at);
    }
    return moved;
}

/// Another thread that is here already moves the same messages.
bool Fabric::progress() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    bool moved = wire_->progress(*this);
    moved |= move_peers();
    note_state();
    auto const lost = std::exchange(shared_.lost, {});
    std::vector<FabricCard> cards;
    for (FabricIndex const peer : lost) cards.push_back(peers_[peer].card());
    lock.unlock();
    for (FabricCard const& card : cards) {
        if (when_lost) when_lost(card);
    }
    return moved;
}

bool Fabric::may_sleep() {
    std::lock_guard const lock(mutex_);
    return wire_->may_sleep();
}

/// Peers are looked through only after one of the process's peers was lost. When, and what was
/// found, is one number, because another thread may do the same.
bool FabricNetwork::has_lost_peer() {
    std::uint64_t const ends = fabric_.ends();
    if (std::uint64_t const last = looked_; last / 2 == ends) return last % 2 == 1;
    bool const is_lost = !fabric_.all_take_part(context_, peers_);
    looked_ = 2 * ends + (is_lost ? 1 : 0);
    return is_lost;
}

}  // namespace sluice
