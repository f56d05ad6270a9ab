// How several threads use one endpoint. See fabric.hpp.
#include "transport/fabric.hpp"

namespace sluice {
namespace {

/// A store in the order of all threads costs; a look does not.
void store_changed(std::atomic<bool>& stored, bool value) noexcept {
    if (stored.load(std::memory_order_relaxed) != value) stored = value;
}

}  // namespace

std::unique_ptr<Fabric> Fabric::open(FabricEndpoint::Options const& options, std::string& why) {
    auto endpoint = FabricEndpoint::open(options, why);
    if (!endpoint) return nullptr;
    return std::unique_ptr<Fabric>(new Fabric(std::move(endpoint)));
}

/// Who finds that it is not busy, or that nothing waits, may sleep for long. Both are stored so
/// that one who looks before it sleeps and one who looks whether it sleeps do not miss each other.
void Fabric::note_state() {
    bool const waits = messages_.has_waiting();
    bool const unsent = waits || endpoint_->has_sends() || messages_.has_untaken();
    bool const is_idle = messages_.under_way() == 0 && !unsent;
    bool const waits_for_room = waits || endpoint_->has_unposted();
    bool const lingers = linger_.goes_on(is_idle, messages_.written_bytes(), clock_);
    under_way_.store(messages_.under_way(), std::memory_order_relaxed);
    has_unsent_.store(unsent, std::memory_order_relaxed);
    store_changed(waits_for_room_, waits_for_room);
    store_changed(is_busy_, !is_idle || waits_for_room || lingers);
    ends_.store(messages_.ends(), std::memory_order_relaxed);
}

FabricIndex Fabric::meet(FabricCard const& card) {
    std::lock_guard const lock(mutex_);
    return messages_.meet(card);
}

Message Fabric::start_send(FabricIndex peer, std::uint64_t context, int tag,
                           std::span<std::byte const> bytes, bool synchronous) {
    std::lock_guard const lock(mutex_);
    Message const message = messages_.start_send(peer, context, tag, bytes, synchronous);
    note_state();
    return message;
}

Message Fabric::start_placing_send(FabricIndex peer, std::uint64_t context, int tag,
                                   std::span<std::byte const> bytes,
                                   std::span<PlacedPart const> parts) {
    std::lock_guard const lock(mutex_);
    Message const message = messages_.start_placing_send(peer, context, tag, bytes, parts);
    note_state();
    return message;
}

Message Fabric::start_recv(FabricIndex peer, std::uint64_t context, int tag,
                           std::span<std::byte> bytes, std::span<std::byte> target) {
    std::lock_guard const lock(mutex_);
    Message const message = messages_.start_recv(peer, context, tag, bytes, target);
    note_state();
    return message;
}

void Fabric::hold(std::uint64_t context, std::span<std::byte> memory) {
    std::lock_guard const lock(mutex_);
    endpoint_->hold(context, memory);
}

bool Fabric::finished(Message& message) {
    std::lock_guard const lock(mutex_);
    bool const is_done = messages_.finished(message);
    note_state();
    return is_done;
}

void Fabric::give_up(std::uint64_t context, std::span<FabricIndex const> peers) {
    std::lock_guard const lock(mutex_);
    for (FabricIndex const peer : peers) messages_.give_up(peer, context);
    note_state();
}

void Fabric::abandon(std::uint64_t context, std::span<FabricIndex const> peers) {
    std::lock_guard const lock(mutex_);
    for (FabricIndex const peer : peers) messages_.abandon(peer, context);
    note_state();
}

bool Fabric::all_take_part(std::uint64_t context, std::span<FabricIndex const> peers) {
    std::lock_guard const lock(mutex_);
    return messages_.all_take_part(context, peers);
}

void Fabric::forget(std::uint64_t context) {
    std::lock_guard const lock(mutex_);
    messages_.forget(context);
    endpoint_->release(context);
}

/// Another thread that is here already moves the same messages.
bool Fabric::progress() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    bool moved = endpoint_->progress(messages_);
    moved |= messages_.move(clock_.now());
    note_state();
    if (when_lost) {
        auto const lost = messages_.take_lost();
        std::vector<FabricCard> cards;
        for (FabricIndex const peer : lost) cards.push_back(messages_.card_of(peer));
        lock.unlock();
        for (FabricCard const& card : cards) when_lost(card);
    }
    return moved;
}

bool Fabric::may_sleep() {
    std::lock_guard const lock(mutex_);
    return endpoint_->may_sleep();
}

/// Peers are looked through only after one of the process's peers was lost.
bool FabricNetwork::has_lost_peer() {
    std::uint64_t const ends = fabric_.ends();
    if (ends == seen_ends_) return has_lost_peer_;
    has_lost_peer_ = !fabric_.all_take_part(context_, peers_);
    seen_ends_ = ends;
    return has_lost_peer_;
}

}  // namespace sluice
