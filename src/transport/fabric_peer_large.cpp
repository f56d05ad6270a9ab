// Long messages: the receiver shows its memory, and the sender writes into it. See fabric_peer.hpp.
#include "transport/fabric_peer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice {
namespace {

constexpr double ready_seconds = 0.05;  ///< For `ready`, before the receiver is asked.
constexpr double asks_no_more = 1e9;
/// A peer that computes is silent as well: it is looked after less and less often.
constexpr double silence_seconds = 1, silence_seconds_most = 15;
/// In 64 bits there is room for the bytes of the write beside the number of the receive.
constexpr unsigned receive_bits = 24;
constexpr std::uint64_t receives_most = std::uint64_t{1} << receive_bits;

/// Of a send without parts all of its bytes are one.
PlacedPart next_write(MessageDesc const& send) noexcept {
    if (!send.parts.empty()) return send.parts[send.part];
    return {send.data, 0, static_cast<Bytes>(send.bytes)};
}

void note_written(MessageDesc& send, std::size_t bytes) noexcept {
    send.front += bytes;
    if (send.parts.empty() || send.front < static_cast<std::uint64_t>(send.parts[send.part].length))
        return;
    ++send.part;
    send.front = 0;
}

bool all_written(MessageDesc const& send) noexcept {
    return send.parts.empty() ? send.front == send.bytes : send.part == send.parts.size();
}

}  // namespace

std::uint64_t WriteData::pack(WriteData const& what, unsigned bits) noexcept {
    if (bits < 64) return what.receive;
    bool const fits = what.bytes < std::uint64_t{1} << (64 - receive_bits);
    return what.receive | (fits ? what.bytes << receive_bits : 0);
}

WriteData WriteData::unpack(std::uint64_t data, unsigned bits) noexcept {
    if (bits < 64) return {static_cast<std::uint32_t>(data), 0};
    return {static_cast<std::uint32_t>(data % receives_most), data >> receive_bits};
}

/// Where the provider refuses, the receive fails, and the send is over.
void FabricPeer::offer_memory(MessageDesc& receive) {
    auto const shown = shared_.wire.show({receive.data, static_cast<std::size_t>(receive.bytes)});
    bool const has_target = !receive.target.empty();
    auto const target = has_target ? shared_.wire.show(receive.target) : ShownMemory{};
    if (shown) receive.registration = shown->registration;
    if (target) receive.target_registration = target->registration;
    receive.is_shown = true;
    receive.receive = shared_.receives.add(receive, index_);
    if (!shown || !target) {
        (void)posted_.take([&](MessageDesc const& one) { return &one == &receive; });
        end_receive(receive);
        fail(receive, "the fabric's provider refuses to register memory (ulimit -l)",
             Status::no_memory);
        return tell(header_of(FabricKind::refused, receive));
    }
    Note note{header_of(FabricKind::ready, receive), {target->address, target->key}, has_target};
    note.header.address = shown->address;
    note.header.key_of_memory = shown->key;
    tell(note);
}

/// Peers cannot write to it any more; to memory that is held they could, but are told no more of.
void FabricPeer::end_receive(MessageDesc& receive, bool may_be_written) {
    if (!receive.is_shown) return;
    receive.is_shown = false;
    for (void** const registration : {&receive.registration, &receive.target_registration}) {
        if (*registration) shared_.wire.hide(std::exchange(*registration, nullptr));
    }
    if (may_be_written)
        shared_.receives.retire(receive.receive);
    else
        shared_.receives.remove(receive.receive);
}

/// The message is longer than this receive, and waits for memory at its sender.
void FabricPeer::refuse(MessageDesc& receive) {
    receive.end_failed(Status::truncated, MessageDesc::too_long);
    tell(header_of(FabricKind::refused, receive));
}

void FabricPeer::take_ready(FabricHeader const& header, std::span<std::byte const> body) {
    MessageDesc* const send = large_.take(same_message(header));
    std::uint32_t const sent = numbers_[{header.context, header.tag}].sent;
    if (!send && static_cast<std::int32_t>(header.number - sent) < 0) return;  // It went whole.
    MessageDesc& ready = make(header);
    ready.bytes = header.bytes;
    ready.address = header.address;
    ready.key = header.key_of_memory;
    ready.receive = header.receive;
    FabricTarget target;
    if (body.size() == sizeof target) {
        std::memcpy(&target, body.data(), sizeof target);
        ready.target_address = target.address;
        ready.target_key = target.key_of_memory;
    }
    if (!send) return ready_.push_back(ready);
    begin_writes(*send, ready);
    shared_.message_descs.recycle(ready);
}

void FabricPeer::begin_writes(MessageDesc& send, MessageDesc const& ready) {
    send.receive = ready.receive;
    if (ready.bytes < send.bytes) {
        send.done = true;
        return tell(header_of(FabricKind::too_long, send));
    }
    bool const has_parts = !send.parts.empty();
    send.address = has_parts ? ready.target_address : ready.address;
    send.key = has_parts ? ready.target_key : ready.key;
    announce_writes(send);
    writing_.push_back(send);
    send_writes();
}

/// The receiver must know how many writes come: by a message before them or, where there are parts,
/// by that with the rest. One write alone says how long it is, where it can.
void FabricPeer::announce_writes(MessageDesc& send) {
    std::uint64_t const most = shared_.wire.write_most();
    auto const writes = [&](std::uint64_t bytes) { return (bytes + most - 1) / most; };
    if (!send.parts.empty()) {
        for (PlacedPart const& part : send.parts) {
            send.placed += static_cast<std::uint64_t>(part.length);
            send.end += writes(static_cast<std::uint64_t>(part.length));
        }
        return;
    }
    send.says_bytes = writes(send.bytes) == 1 && shared_.wire.data_bits() == 64;
    if (send.says_bytes) return;
    FabricHeader header = header_of(FabricKind::length, send);
    header.writes = static_cast<std::uint32_t>(writes(send.bytes));
    tell(header);
}

bool FabricPeer::send_writes() {
    bool moved = false;
    unsigned const bits = shared_.wire.data_bits();
    while (!writing_.empty()) {
        MessageDesc& send = *writing_.front();
        PlacedPart const part = next_write(send);
        auto const left = static_cast<std::size_t>(part.length) - send.front;
        std::size_t const bytes = std::min(left, shared_.wire.write_most());
        std::uint64_t const data =
            WriteData::pack({send.receive, send.says_bytes ? bytes : 0}, bits);
        WireResult const result = shared_.wire.write(
            index_, {part.memory + send.front, bytes},
            send.address + static_cast<std::uint64_t>(part.at) + send.front, send.key, data, &send);
        if (result == WireResult::lost) end_all();
        if (result != WireResult::taken) return moved;
        moved = true;
        ++send.under_way;
        shared_.written_bytes += bytes;
        note_written(send, bytes);
        if (!all_written(send)) continue;
        (void)writing_.take_front();
        if (send.parts.empty())
            written_.push_back(send);
        else
            send_whole(send);
    }
    return moved;
}

/// All writes of a message with parts and its head went; they may have ended before.
void FabricPeer::end_writes(MessageDesc& send) {
    if (send.under_way > 0)
        written_.push_back(send);
    else
        send.done = true;
}

void FabricPeer::end_write(MessageDesc& send) {
    --send.under_way;
    bool const all_went =
        send.failed() || (all_written(send) && (send.parts.empty() || send.head_went));
    if (send.under_way > 0 || !all_went) return;
    (void)written_.take([&](MessageDesc const& one) { return &one == &send; });
    send.done = true;
    if (is_gone_) fail(send);
}

/// The writes to their places may still be on their way.
void FabricPeer::take_head(FabricHeader const& header, std::span<std::byte const> body) {
    auto const* const place = shared_.receives.find(header.receive);
    if (!place || place->peer != index_) return;
    MessageDesc& receive = *place->receive;
    receive.fail_if_longer(body.size());
    receive.bytes = std::min<std::uint64_t>(receive.bytes, body.size());
    if (receive.bytes) std::memcpy(receive.data, body.data(), receive.bytes);
    receive.placed = header.bytes;
    receive.end = header.writes;
    finish_if_all_came(receive);
}

/// `front` counts the writes that came, `end` says how many have to.
void FabricPeer::take_write(MessageDesc& receive, std::uint64_t bytes) {
    ++receive.front;
    if (bytes > 0) {
        receive.bytes = bytes;
        receive.end = 1;
    }
    finish_if_all_came(receive);
}

void FabricPeer::finish_if_all_came(MessageDesc& receive) {
    if (receive.end == 0 || receive.front < receive.end) return;
    (void)posted_.take([&](MessageDesc const& one) { return &one == &receive; });
    end_receive(receive);
    receive.done = true;
}

void FabricPeer::take_length(FabricHeader const& header) {
    auto const* const place = shared_.receives.find(header.receive);
    if (!place || place->peer != index_) return;
    MessageDesc& receive = *place->receive;
    receive.bytes = std::min(receive.bytes, header.bytes);
    receive.end = header.writes;
    finish_if_all_came(receive);
}

/// A receive that has shown memory will be written to; the two messages have passed each other. One
/// that is over has failed before.
void FabricPeer::take_waiting(FabricHeader const& header) {
    MessageDesc* const receive = posted_.find(same_message(header));
    if (receive && receive->is_shown) return;
    if (receive) return refuse(*posted_.take(same_message(header)));
    auto const& numbers = numbers_[{header.context, header.tag}];
    if (static_cast<std::int32_t>(header.number - numbers.received) < 0) {
        FabricHeader answer = header;
        answer.kind = FabricKind::refused;
        return tell(answer);
    }
    early_.push_back(make(header));
}

void FabricPeer::take_refused(FabricHeader const& header) {
    if (MessageDesc* const send = large_.take(same_message(header))) send->done = true;
}

void FabricPeer::take_too_long(FabricHeader const& header) {
    MessageDesc* const receive = posted_.take(same_message(header));
    if (!receive) return;
    end_receive(*receive);
    receive->end_failed(Status::truncated, MessageDesc::too_long);
}

void FabricPeer::look_after(double now) {
    if (is_gone_) return;
    large_.for_each([&](MessageDesc& send) {
        if (send.quiet_since == 0) send.quiet_since = now;
        if (now - send.quiet_since < ready_seconds) return;
        send.quiet_since = now + asks_no_more;
        tell(header_of(FabricKind::waiting, send));
    });
    if (std::exchange(was_heard_, false) || quiet_since_ == 0) {
        quiet_since_ = now;
        patience_ = silence_seconds;
    }
    if (now - quiet_since_ < patience_) return;
    PeerLife const life = shared_.wire.life_of(index_, now);
    if (life == PeerLife::asked) return;
    if (life == PeerLife::ended) return end_all();
    if (life == PeerLife::unknown && post_credits() == WireResult::lost) return end_all();
    patience_ = std::min(patience_ * 1.5, now - quiet_since_ + silence_seconds_most);
}

}  // namespace sluice
