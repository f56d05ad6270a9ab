// How large messages are offered, granted and then moved from both ends. See node_peer.hpp.
#include "transport/node_peer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

/// How long the receiver leaves a message to its sender, which is faster where it looks.
constexpr double patience_seconds = 10e-6;
/// What it copies at once: a caller is held for some tens of microseconds at most.
constexpr std::uint64_t copy_max = 256 * 1024;
constexpr int fragments_a_look = 2;

auto of_number(std::uint64_t number) noexcept {
    return [=](MessageDesc const& message_desc) { return message_desc.number == number; };
}

}  // namespace

void NodePeer::deliver_offer(Note const& note) {
    auto const fits = [&](MessageDesc const& receive) {
        return receive.context == note.context && receive.tag == note.tag;
    };
    MessageDesc& early = message_descs_->make();
    early.context = note.context;
    early.tag = note.tag;
    early.number = note.number;
    early.bytes = note.bytes;
    early.address = note.address;
    MessageDesc* const receive = posted_.take(fits);
    if (!receive) return early_.push_back(early);
    begin_large(*receive, early);
    message_descs_->recycle(early);
}

void NodePeer::begin_large(MessageDesc& receive, MessageDesc const& offered) {
    receive.number = offered.number;
    receive.fail_if_longer(offered.bytes);
    if (receive.failed()) return end_large(receive);
    receive.bytes = receive.end = offered.bytes;
    receive.address = offered.address;
    incoming_.push_back(receive);
    tell({CellKind::grant, 0, 0, receive.number});
}

/// A receive is done only when its sender was told: who has no message under way looks no more, and
/// the sender would wait for ever.
void NodePeer::end_large(MessageDesc& receive) {
    ending_.push_back(receive);
    end_told();
}

/// True when anything moved.
bool NodePeer::end_told() {
    bool moved = false;
    while (notes_.empty() && !ending_.empty() &&
           post({CellKind::done, 0, 0, ending_.front()->number})) {
        ending_.take_front()->done = true;
        moved = true;
    }
    return moved;
}

/// Fragments come in the order of the bytes. One may come for what was copied, or ended, meanwhile.
void NodePeer::deliver_fragment(Note const& note, std::span<std::byte const> body) {
    MessageDesc* const receive = incoming_.find(of_number(note.number));
    if (!receive) return;
    std::uint64_t const wanted =
        std::min<std::uint64_t>(body.size(), receive->end - receive->front);
    std::memcpy(receive->data + receive->front, body.data(), wanted);
    receive->front += wanted;
    receive->quiet_since = 0;
    if (receive->front < receive->end) return;
    end_large(*incoming_.take(of_number(note.number)));
}

/// What the receiver says of a message that this rank offered.
void NodePeer::finish_send(Note const& note) {
    MessageDesc* const send = large_.find(of_number(note.number));
    if (!send) return;
    if (note.kind == CellKind::grant) send->granted = true;
    if (note.kind == CellKind::shorten) send->end = note.bytes;
    if (note.kind == CellKind::done) large_.take(of_number(note.number))->done = true;
}

bool NodePeer::send_fragments() {
    auto const wants_fragments = [](MessageDesc const& send) {
        return send.granted && send.front < send.end;
    };
    bool moved = false;
    for (int fragment = 0; fragment < fragments_a_look; ++fragment) {
        MessageDesc* const send = large_.find(wants_fragments);
        if (!send) break;
        std::uint64_t const bytes =
            std::min<std::uint64_t>(send->end - send->front, shape_.body_max());
        Note const note{CellKind::fragment, 0, 0, send->number};
        if (!post(note, {send->data + send->front, bytes})) break;
        send->front += bytes;
        moved = true;
    }
    return moved;
}

bool NodePeer::copy(double now) {
    MessageDesc* const receive = incoming_.front();
    if (!receive || !readable_) return false;
    if (receive->quiet_since == 0) receive->quiet_since = now;
    if (now - receive->quiet_since < patience_seconds) return false;
    std::uint64_t const end = receive->end;
    std::uint64_t const begin = end - std::min(copy_max, end - receive->front);
    tell({CellKind::shorten, 0, 0, receive->number, begin});
    ReadResult const result =
        read_memory(process_, receive->data + begin, receive->address + begin, end - begin);
    if (result == ReadResult::gone) {
        end_all();
        return true;
    }
    if (result == ReadResult::refused) {  // The sender's part then.
        readable_ = false;
        tell({CellKind::shorten, 0, 0, receive->number, end});
        return false;
    }
    receive->end = begin;
    if (receive->front == begin) end_large(*incoming_.take_front());
    return true;
}

}  // namespace sluice
