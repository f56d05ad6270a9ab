// How messages over a fabric are matched, sent and written. See fabric_peer.hpp.
#include "transport/fabric_peer.hpp"

namespace sluice {
namespace {

constexpr double ready_seconds = 0.05;  ///< For `ready`, before the receiver is asked.
constexpr double asks_no_more = 1e9;
/// A peer that computes is silent as well: it is looked after less and less often.
constexpr double silence_seconds = 1, silence_seconds_most = 15;

constexpr EndReason unreachable{Status::other, "the peer cannot be reached over the fabric"};
constexpr EndReason given_up{Status::other, "a process of the peer's node has ended"};
constexpr EndReason head_too_long{Status::other, "a message beside parts is too long"};
constexpr EndReason no_registration{Status::no_memory,
                                    "the fabric's provider refuses to register memory (ulimit -l)"};

FabricHeader header_of(FabricKind kind, MatchKey const& message, std::uint64_t bytes = 0) {
    FabricHeader header;
    header.kind = kind;
    header.message = message;
    header.bytes = bytes;
    return header;
}

}  // namespace

void FabricPeer::meet(FabricCard const& card) {
    channel_.meet(card);
    is_met_ = true;
    if (!shared_.wire.meet(index_, std::span(card.address).first(card.address_bytes))) end();
}

/// Short messages, and what is left of those with parts.
bool FabricPeer::send_waiting() {
    bool moved = false;
    while (channel_.has_told_all() && !waiting_.empty()) {
        FabricSend& send = *waiting_.front();
        bool const has_parts = send.writes.count() > 0;
        FabricHeader header = header_of(has_parts ? FabricKind::head : FabricKind::whole, send.key,
                                        send.writes.bytes());
        header.writes = send.writes.count();
        header.synchronous = send.awaits_match;
        if (!was_taken(channel_.post(header, {send.data, send.bytes}))) return moved;
        waiting_.take_front();
        went(send);
        moved = true;
    }
    return moved;
}

bool FabricPeer::move() {
    if (is_gone_) return false;
    bool moved = false;
    (void)was_taken(channel_.post_told(moved));
    moved |= send_waiting();
    moved |= send_writes();
    return (channel_.owes_credits() && was_taken(channel_.post_credits())) || moved;
}

FabricSend& FabricPeer::send(std::uint64_t context, int tag, std::span<std::byte const> bytes,
                             std::span<PlacedPart const> parts, bool synchronous) {
    MatchKey const key{context, tag, numbers_[{context, tag}].sent++};
    FabricSend& send = shared_.messages.make_send(key, bytes);
    bool const is_long = bytes.size() > whole_most();
    send.peer = index_;
    send.writes = parts.empty() ? FabricWrites(bytes) : FabricWrites(parts);
    send.has_message = !parts.empty() || !is_long;
    send.awaits_match = synchronous && send.has_message;
    if (EndReason const* const why = why_none(context)) {
        send.end(why);
    } else if (is_long && !parts.empty()) {
        send.end(&head_too_long);
    } else if (is_long || !parts.empty()) {
        long_sends_.wait(send, [&](FabricHeader const& ready, std::span<std::byte const> target) {
            begin_writes(*long_sends_.take(key), ready, target);
        });
        return send;
    } else {
        waiting_.push_back(send);
        (void)send_waiting();
    }
    long_sends_.drop([&](auto const& ready) { return ready.key == key; });
    return send;
}

void FabricPeer::begin_writes(FabricSend& send, FabricHeader const& ready,
                              std::span<std::byte const> target) {
    if (ready.bytes < send.bytes) {
        send.end();
        return channel_.tell(header_of(FabricKind::too_long, send.key));
    }
    FabricTarget place{ready.address, ready.key_of_memory};
    if (send.has_message && !target.empty())
        std::memcpy(&place, target.data(), std::min(target.size(), sizeof place));
    send.writes.begin(place, ready.receive, shared_.wire);
    // The message beside the writes says how many come, or one before them.
    if (!send.has_message && !send.writes.says_bytes()) {
        FabricHeader length = header_of(FabricKind::length, send.key, send.bytes);
        length.writes = send.writes.count();
        channel_.tell(length);
    }
    writing_.push_back(send);
    (void)send_writes();
}

bool FabricPeer::send_writes() {
    bool moved = false;
    while (FabricSend* const send = writing_.front()) {
        if (!was_taken(send->writes.post_next(shared_.wire, index_, send))) return moved;
        moved = true;
        if (!send->writes.all_went()) continue;
        shared_.written_bytes += send->writes.bytes();
        writing_.take_front();
        if (!send->has_message) {
            went(*send);
        } else {
            waiting_.push_back(*send);
            (void)send_waiting();
        }
    }
    return moved;
}

/// All messages end where the peer is lost.
bool FabricPeer::was_taken(WireResult result) {
    if (result == WireResult::lost) end();
    return result == WireResult::taken;
}

/// The writes of a send read its bytes until they end.
void FabricPeer::went(FabricSend& send) {
    send.went = true;
    if (!send.writes.any_under_way() && !send.awaits_match)
        send.end();
    else
        went_.push_back(send);
}

void FabricPeer::end_if_over(FabricSend& send) {
    if (!send.went || send.writes.any_under_way() || send.awaits_match) return;
    went_.remove(send);
    send.end();
}

void FabricPeer::end_write(FabricSend& send) {
    send.writes.end_one();
    end_if_over(send);
}

FabricReceive& FabricPeer::receive(std::uint64_t context, int tag, std::span<std::byte> bytes,
                                   std::span<std::byte> target) {
    MatchKey const key{context, tag, numbers_[{context, tag}].received++};
    FabricReceive& receive = shared_.messages.make_receive(key, bytes);
    receive.peer = index_;
    receive.target = target;
    bool const is_long = bytes.size() > whole_most() || !target.empty();
    EndReason const* const why = why_none(context);
    receives_.wait(receive, [&](FabricHeader const& header, std::span<std::byte const> body) {
        if (header.kind == FabricKind::whole)
            take_whole(header, body);
        else if (!is_long && !why)
            take_waiting(header);
    });
    if (receive.done) return receive;
    if (why)
        end_receive(receive, why);
    else if (is_long)
        show(receive);
    return receive;
}

/// Tells the sender where to write. Where the provider refuses, the receive fails, and the send is
/// over.
void FabricPeer::show(FabricReceive& receive) {
    auto const places = shared_.shown.show(receive);
    if (!places) return refuse(receive, no_registration);
    FabricHeader ready = header_of(FabricKind::ready, receive.key, receive.bytes);
    ready.address = places->memory.address;
    ready.key_of_memory = places->memory.key_of_memory;
    ready.receive = receive.number;
    channel_.tell(ready, places->target);
}

void FabricPeer::end_receive(FabricReceive& receive, EndReason const* reason) {
    (void)receives_.take(receive.key);
    receive.end(reason);
    shared_.shown.hide(receive);
}

/// It takes no message, which waits for memory at its sender.
void FabricPeer::refuse(FabricReceive& receive, EndReason const& reason) {
    end_receive(receive, &reason);
    channel_.tell(header_of(FabricKind::refused, receive.key));
}

void FabricPeer::end_if_all_came(FabricReceive& receive) {
    if (receive.expected > 0 && receive.came >= receive.expected) end_receive(receive);
}

void FabricPeer::take_write(FabricReceive& receive, std::uint64_t bytes) {
    ++receive.came;
    if (bytes > 0) {
        receive.bytes = std::min(receive.bytes, bytes);
        receive.expected = 1;
    }
    end_if_all_came(receive);
}

void FabricPeer::take(FabricHeader const& header, std::span<std::byte const> body) {
    if (is_gone_) return;
    was_heard_ = true;
    channel_.take(header);
    switch (header.kind) {
    case FabricKind::whole:
        return take_whole(header, body);
    case FabricKind::ready:
        return take_ready(header, body);
    case FabricKind::head:
    case FabricKind::length:
        return take_length(header, body);
    case FabricKind::matched:
        if (FabricSend* const send = went_.find(has_key(header.message))) {
            send->awaits_match = false;
            end_if_over(*send);
        }
        return;
    case FabricKind::waiting:
        return take_waiting(header);
    case FabricKind::refused:
        if (FabricSend* const send = long_sends_.take(header.message)) send->end();
        return;
    case FabricKind::too_long:
        if (FabricReceive* const receive = receives_.find(header.message))
            end_receive(*receive, &StartedMessage::too_long);
        return;
    case FabricKind::ended:
        return end(header.message.context, false);
    case FabricKind::credits:
        return;
    }
}

void FabricPeer::take_whole(FabricHeader const& header, std::span<std::byte const> body) {
    FabricReceive* const receive = receives_.find(header.message);
    if (!receive) return receives_.keep(header.message, header, body);
    receive->copy(body);
    end_receive(*receive);
    if (header.synchronous) channel_.tell(header_of(FabricKind::matched, header.message));
}

void FabricPeer::take_ready(FabricHeader const& header, std::span<std::byte const> body) {
    MatchKey const& key = header.message;
    if (FabricSend* const send = long_sends_.take(key)) return begin_writes(*send, header, body);
    if (is_before(key.number, numbers_[{key.context, key.tag}].sent)) return;  // It went whole.
    long_sends_.keep(key, header, body);
}

/// How many writes come for a receive, and with parts the bytes beside them. The writes may be
/// before it or after it.
void FabricPeer::take_length(FabricHeader const& header, std::span<std::byte const> body) {
    FabricReceive* const receive = receives_.find(header.message);
    if (!receive || !receive->is_shown) return;
    if (header.kind == FabricKind::head) {
        receive->copy(body);
        receive->placed = header.bytes;
    } else {
        receive->bytes = std::min(receive->bytes, header.bytes);
    }
    receive->expected = header.writes;
    end_if_all_came(*receive);
}

/// A receive that has shown memory will be written to; the two messages have passed each other. One
/// that is over has failed before.
void FabricPeer::take_waiting(FabricHeader const& header) {
    MatchKey const& key = header.message;
    if (FabricReceive* const receive = receives_.find(key)) {
        if (!receive->is_shown) refuse(*receive, StartedMessage::too_long);
    } else if (is_before(key.number, numbers_[{key.context, key.tag}].received)) {
        channel_.tell(header_of(FabricKind::refused, key));
    } else {
        receives_.keep(key, header);
    }
}

void FabricPeer::look_after(double now) {
    if (is_gone_) return;
    long_sends_.for_each_waiting([&](FabricSend& send) {
        if (send.quiet_since == 0) send.quiet_since = now;
        if (now - send.quiet_since < ready_seconds) return;
        send.quiet_since = now + asks_no_more;
        channel_.tell(header_of(FabricKind::waiting, send.key));
    });
    if (std::exchange(was_heard_, false) || quiet_since_ == 0) {
        quiet_since_ = now;
        patience_ = silence_seconds;
    }
    if (now - quiet_since_ < patience_) return;
    PeerLife const life = shared_.wire.life_of(index_, now);
    if (life == PeerLife::asked) return;
    if (life == PeerLife::ended) return end();
    if (life == PeerLife::unknown) (void)was_taken(channel_.post_credits());
    patience_ = std::min(patience_ * 1.5, now - quiet_since_ + silence_seconds_most);
}

EndReason const* FabricPeer::why_none(std::uint64_t context) const noexcept {
    if (is_gone_) return &unreachable;
    return ended_contexts_.contains(context) ? &given_up : nullptr;
}

/// A write that is under way still reads its bytes: such a send ends with it. What came before its
/// receive stays.
template <class Fits> void FabricPeer::end_those(Fits const& fits, EndReason const& reason) {
    ++shared_.ends;
    channel_.drop(fits);
    auto const its = [&](auto const& one) { return fits(one.key); };
    while (FabricReceive* const receive = receives_.take_any(its)) end_receive(*receive, &reason);
    LinkedList<FabricSend> sends;
    while (FabricSend* const send = long_sends_.take_any(its)) sends.push_back(*send);
    for (LinkedList<FabricSend>* const list : {&waiting_, &writing_, &went_}) {
        while (FabricSend* const send = list->take(its)) sends.push_back(*send);
    }
    while (FabricSend* const send = sends.take_front()) {
        send->failure = &reason;
        send->awaits_match = false;
        went(*send);
    }
    long_sends_.drop(its);
}

void FabricPeer::end() {
    if (std::exchange(is_gone_, true)) return;
    channel_.end();
    shared_.lost.push_back(index_);
    end_those([](MatchKey const&) { return true; }, unreachable);
    receives_.drop([](auto const& one) { return one.header.kind == FabricKind::waiting; });
}

void FabricPeer::end(std::uint64_t context, bool tells) {
    if (is_gone_ || !ended_contexts_.insert(context).second) return;
    end_those([=](MatchKey const& one) { return one.context == context; }, given_up);
    if (tells) channel_.tell(header_of(FabricKind::ended, {context}));
}

void FabricPeer::forget(std::uint64_t context) {
    ended_contexts_.erase(context);
    std::erase_if(numbers_, [=](auto const& one) { return one.first.first == context; });
    auto const its = [=](auto const& one) { return one.key.context == context; };
    receives_.drop(its);
    long_sends_.drop(its);
}

}  // namespace sluice
