// How messages over a fabric are matched, and short ones sent. See fabric_peer.hpp; long ones are
// in fabric_peer_large.cpp.
#include "transport/fabric_peer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr int notes_a_look = 64;

}  // namespace

std::uint32_t ShownReceives::add(MessageDesc& receive, FabricIndex peer) {
    if (free_.empty()) {
        places_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    std::uint32_t const number = free_.back();
    free_.pop_back();
    places_[number] = {&receive, peer};
    return number;
}

ShownReceives::Place const* ShownReceives::find(std::uint32_t number) const noexcept {
    return number < places_.size() && places_[number].receive ? &places_[number] : nullptr;
}

void ShownReceives::remove(std::uint32_t number) {
    places_[number].receive = nullptr;
    free_.push_back(number);
}

void FabricPeer::meet(FabricCard const& card) {
    card_ = card;
    is_met_ = true;
    if (!shared_.wire.meet(index_, std::span(card.address).first(card.address_bytes))) end_all();
}

FabricHeader FabricPeer::header_of(FabricKind kind, MessageDesc const& message) {
    FabricHeader header;
    header.kind = kind;
    header.context = message.context;
    header.tag = message.tag;
    header.number = static_cast<std::uint32_t>(message.number);
    header.bytes = message.bytes;
    header.receive = message.receive;
    header.synchronous = message.synchronous;
    return header;
}

/// A half of the slots: the sender has not run out of them then.
std::uint32_t FabricPeer::credited_at_once(FabricCard const& receiver) noexcept {
    return std::max<std::uint32_t>(receiver.slots / 2, 1);
}

bool FabricPeer::owes_credits() const noexcept {
    return is_met_ && !is_gone_ && taken_ - told_ >= credited_at_once(shared_.own);
}

void FabricPeer::note_behind() noexcept {
    auto const most = static_cast<std::int32_t>(std::max(credited_at_once(card_), messages_held));
    auto const missing = static_cast<std::int32_t>(needed_ - credited_);
    bool const is_behind = !is_gone_ && missing >= most;
    shared_.peers_behind += int{is_behind} - int{is_behind_};
    is_behind_ = is_behind;
}

WireResult FabricPeer::post(FabricHeader header, std::span<std::byte const> body) {
    bool const takes_slot = header.kind != FabricKind::credits;
    if (!is_met_ || (takes_slot && sent_ - credited_ >= card_.slots)) return WireResult::full;
    header.key = card_.key;
    header.from = shared_.own.name;
    header.credits = taken_;
    auto const head = std::as_bytes(std::span(&header, 1));
    WireResult const result = shared_.wire.send(index_, head, body);
    if (result == WireResult::taken) {
        told_ = taken_;
        if (takes_slot) ++sent_;
        if (takes_slot && header.kind != FabricKind::ready) {
            needed_ = sent_;
            note_behind();
        }
    }
    return result;
}

WireResult FabricPeer::post(Note const& note) {
    if (!note.has_target) return post(note.header);
    return post(note.header, std::as_bytes(std::span(&note.target, 1)));
}

void FabricPeer::tell(FabricHeader const& header) { tell(Note{header}); }

/// What a lost peer would have been told is of no interest; who notices ends all its messages.
void FabricPeer::tell(Note const& note) {
    if (is_gone_) return;
    if (!notes_.empty() || post(note) != WireResult::taken) notes_.push_back(note);
}

/// All of a short message, or of one with parts what is no part.
bool FabricPeer::try_whole(MessageDesc& send) {
    FabricHeader header = header_of(FabricKind::whole, send);
    if (!send.parts.empty()) {
        header.kind = FabricKind::head;
        header.bytes = send.placed;
        header.writes = static_cast<std::uint32_t>(send.end);
    }
    WireResult const result = post(header, {send.data, static_cast<std::size_t>(send.bytes)});
    if (result == WireResult::lost) end_all();
    return result == WireResult::taken;
}

/// At once, or when there is room.
void FabricPeer::send_whole(MessageDesc& send) {
    if (waiting_.empty() && notes_.empty() && try_whole(send)) return end_sent(send);
    if (is_gone_)
        end_lost(send);
    else
        waiting_.push_back(send);
}

/// A write that is under way still reads its bytes: such a message ends with it.
void FabricPeer::end_lost(MessageDesc& send, char const* why) {
    fail(send, why);
    send.done = send.under_way == 0;
    if (!send.done) written_.push_back(send);
}

/// What it waits for once it went.
void FabricPeer::end_sent(MessageDesc& send) {
    send.head_went = true;
    if (send.synchronous)
        unmatched_.push_back(send);
    else if (!send.parts.empty())
        end_writes(send);
    else
        send.done = true;
}

MessageDesc& FabricPeer::make(std::uint64_t context, int tag, std::uint32_t number) {
    MessageDesc& message = shared_.message_descs.make();
    message.context = context;
    message.tag = tag;
    message.number = number;
    return message;
}

MessageDesc& FabricPeer::make(FabricHeader const& header) {
    return make(header.context, header.tag, header.number);
}

MessageDesc* FabricPeer::send(std::uint64_t context, int tag, std::span<std::byte const> bytes,
                              bool synchronous) {
    std::uint32_t const number = numbers_[{context, tag}].sent++;
    MessageDesc& message = make(context, tag, number);
    message.data = const_cast<std::byte*>(bytes.data());  // NOLINT: only read.
    message.bytes = bytes.size();
    message.synchronous = synchronous;
    message.peer = index_;
    MessageDesc* const ready = ready_.take(same_message(context, tag, number));
    if (char const* const why = why_none(context)) {
        fail(message, why);
    } else if (message.bytes > whole_most()) {
        if (ready)
            begin_writes(message, *ready);
        else
            large_.push_back(message);
    } else {
        send_whole(message);
    }
    if (ready) shared_.message_descs.recycle(*ready);
    if (!message.done || message.failed()) return &message;
    shared_.message_descs.recycle(message);
    return nullptr;
}

/// It needs the receiver's `ready`, however short it is.
MessageDesc& FabricPeer::send_parts(std::uint64_t context, int tag,
                                    std::span<std::byte const> bytes,
                                    std::span<PlacedPart const> parts) {
    std::uint32_t const number = numbers_[{context, tag}].sent++;
    MessageDesc& message = make(context, tag, number);
    message.data = const_cast<std::byte*>(bytes.data());  // NOLINT: only read.
    message.bytes = bytes.size();
    message.parts = parts;
    message.peer = index_;
    MessageDesc* const ready = ready_.take(same_message(context, tag, number));
    char const* const why = why_none(context);
    if (why || bytes.size() > whole_most())
        fail(message, why ? why : "a message beside parts is too long");
    else if (ready)
        begin_writes(message, *ready);
    else
        large_.push_back(message);
    if (ready) shared_.message_descs.recycle(*ready);
    return message;
}

MessageDesc& FabricPeer::receive(std::uint64_t context, int tag, std::span<std::byte> bytes,
                                 std::span<std::byte> target) {
    std::uint32_t const number = numbers_[{context, tag}].received++;
    MessageDesc& message = make(context, tag, number);
    message.data = bytes.data();
    message.bytes = bytes.size();
    message.target = target;
    MessageDesc* const early = early_.take(same_message(context, tag, number));
    bool const waits_for_memory = early && !early->store;
    if (early && early->store) {
        message.synchronous = early->synchronous;
        bring(message, {early->data, static_cast<std::size_t>(early->bytes)});
    } else if (char const* const why = why_none(context)) {
        fail(message, why);
    } else if (message.bytes > whole_most() || !target.empty()) {
        posted_.push_back(message);
        offer_memory(message);
    } else if (waits_for_memory) {
        refuse(message);
    } else {
        posted_.push_back(message);
    }
    if (early) shared_.message_descs.recycle(*early);
    return message;
}

/// The whole of a message into its receive.
void FabricPeer::bring(MessageDesc& receive, std::span<std::byte const> bytes) noexcept {
    receive.done = true;
    receive.fail_if_longer(bytes.size());
    receive.bytes = std::min<std::uint64_t>(receive.bytes, bytes.size());
    if (receive.bytes) std::memcpy(receive.data, bytes.data(), receive.bytes);
    if (receive.synchronous) tell(header_of(FabricKind::matched, receive));
}

void FabricPeer::take_whole(FabricHeader const& header, std::span<std::byte const> body) {
    if (MessageDesc* const receive = posted_.take(same_message(header))) {
        receive->synchronous = header.synchronous;
        end_receive(*receive);
        return bring(*receive, body);
    }
    MessageDesc& early = make(header);
    early.synchronous = header.synchronous;
    shared_.message_descs.store(early, body.size());
    if (!body.empty()) std::memcpy(early.data, body.data(), body.size());
    early_.push_back(early);
}

void FabricPeer::take(FabricHeader const& header, std::span<std::byte const> body) {
    if (is_gone_) return;
    was_heard_ = true;
    // Messages may overtake each other: the most credits count.
    if (static_cast<std::int32_t>(header.credits - credited_) > 0) credited_ = header.credits;
    note_behind();
    if (header.kind == FabricKind::credits) return;
    ++taken_;
    switch (header.kind) {
    case FabricKind::whole:
        return take_whole(header, body);
    case FabricKind::head:
        return take_head(header, body);
    case FabricKind::ready:
        return take_ready(header, body);
    case FabricKind::length:
        return take_length(header);
    case FabricKind::matched:
        if (MessageDesc* const sent = unmatched_.take(same_message(header))) sent->done = true;
        return;
    case FabricKind::waiting:
        return take_waiting(header);
    case FabricKind::refused:
        return take_refused(header);
    case FabricKind::too_long:
        return take_too_long(header);
    case FabricKind::ended:
        return end_context(header.context);
    case FabricKind::credits:
        return;
    }
}

bool FabricPeer::send_notes() {
    bool moved = false;
    for (int left = notes_a_look; left > 0 && !notes_.empty(); --left) {
        WireResult const result = post(notes_.front());
        if (result == WireResult::lost) end_all();
        if (result != WireResult::taken) return moved;
        notes_.pop_front();
        moved = true;
    }
    return moved;
}

bool FabricPeer::send_waiting() {
    bool moved = false;
    while (!waiting_.empty() && try_whole(*waiting_.front())) {
        end_sent(*waiting_.take_front());
        moved = true;
    }
    return moved;
}

bool FabricPeer::send_credits() {
    if (!owes_credits()) return false;
    WireResult const result = post_credits();
    if (result == WireResult::lost) end_all();
    return result == WireResult::taken;
}

WireResult FabricPeer::post_credits() {
    FabricHeader header;
    header.kind = FabricKind::credits;
    return post(header);
}

bool FabricPeer::move() {
    if (is_gone_) return false;
    bool moved = send_notes();
    if (notes_.empty()) moved |= send_waiting();
    moved |= send_writes();
    return send_credits() || moved;
}

void FabricPeer::fail(MessageDesc& message, char const* why, Status status) noexcept {
    message.end_failed(status, why);
}

void FabricPeer::end_all() {
    if (is_gone_) return;
    is_gone_ = true;
    note_behind();
    ++shared_.ends;
    notes_.clear();
    while (!posted_.empty()) {
        MessageDesc& receive = *posted_.take_front();
        end_receive(receive, true);
        fail(receive);
    }
    for (MessageDescList* list : {&waiting_, &unmatched_, &large_, &writing_}) {
        while (!list->empty()) end_lost(*list->take_front());
    }
    while (!ready_.empty()) shared_.message_descs.recycle(*ready_.take_front());
    auto const waits_for_memory = [](MessageDesc const& one) { return !one.store; };
    while (MessageDesc* const lost = early_.take(waits_for_memory))
        shared_.message_descs.recycle(*lost);
}

/// Why there are no messages of the context; null: there are.
char const* FabricPeer::why_none(std::uint64_t context) const noexcept {
    if (is_gone_) return unreachable;
    return ended_contexts_.contains(context) ? given_up : nullptr;
}

/// What came before its receive stays.
void FabricPeer::end_context(std::uint64_t context) {
    ended_contexts_.insert(context);
    ++shared_.ends;
    auto const of_context = [=](MessageDesc const& one) { return one.context == context; };
    while (MessageDesc* const receive = posted_.take(of_context)) {
        end_receive(*receive, true);
        fail(*receive, given_up);
    }
    for (MessageDescList* list : {&waiting_, &unmatched_, &large_, &writing_}) {
        while (MessageDesc* const send = list->take(of_context)) end_lost(*send, given_up);
    }
    while (MessageDesc* const ready = ready_.take(of_context))
        shared_.message_descs.recycle(*ready);
}

void FabricPeer::give_up(std::uint64_t context) {
    if (is_gone_ || ended_contexts_.contains(context)) return;
    end_context(context);
    FabricHeader header;
    header.kind = FabricKind::ended;
    header.context = context;
    tell(header);
}

void FabricPeer::abandon(std::uint64_t context) {
    if (!is_gone_) end_context(context);
    std::erase_if(notes_, [=](Note const& note) { return note.header.context == context; });
}

void FabricPeer::forget(std::uint64_t context) {
    ended_contexts_.erase(context);
    auto const first = numbers_.lower_bound({context, INT32_MIN});
    auto last = first;
    while (last != numbers_.end() && last->first.first == context) ++last;
    numbers_.erase(first, last);
    auto const of_context = [=](MessageDesc const& one) { return one.context == context; };
    for (MessageDescList* list : {&early_, &ready_}) {
        while (MessageDesc* const lost = list->take(of_context))
            shared_.message_descs.recycle(*lost);
    }
}

}  // namespace sluice
