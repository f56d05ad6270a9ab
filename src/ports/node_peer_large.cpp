// Large messages: announced, granted, then moved from both ends. See node_peer.hpp.
#include "ports/node_peer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

/// How long the receiver leaves a message to its sender, which is faster where it looks.
constexpr double patience_seconds = 10e-6;
/// What it copies at once: a caller is held for some tens of microseconds at most.
constexpr std::uint64_t copy_max = 256 * 1024;
constexpr int pieces_a_look = 2;

auto of_number(std::uint64_t number) noexcept {
    return [=](Record const& record) { return record.number == number; };
}

}  // namespace

void NodePeer::deliver_announced(Note const& note) {
    auto const fits = [&](Record const& receive) {
        return receive.context == note.context && receive.tag == note.tag;
    };
    Record& early = records_->make();
    early.context = note.context;
    early.tag = note.tag;
    early.number = note.number;
    early.bytes = note.bytes;
    early.address = note.address;
    Record* const receive = posted_.take(fits);
    if (!receive) return early_.push_back(early);
    begin_large(*receive, early);
    records_->recycle(early);
}

void NodePeer::begin_large(Record& receive, Record const& announced) {
    receive.number = announced.number;
    if (announced.bytes > receive.bytes) {
        receive.failed = receive.truncated = true;
        return end_large(receive);
    }
    receive.bytes = receive.limit = announced.bytes;
    receive.address = announced.address;
    incoming_.push_back(receive);
    tell({CellKind::grant, 0, 0, receive.number});
}

void NodePeer::end_large(Record& receive) {
    receive.done = true;
    tell({CellKind::done, 0, 0, receive.number});
}

/// Pieces come in the order of the bytes. One may come for what was copied, or ended, meanwhile.
void NodePeer::deliver_piece(Note const& note, std::span<std::byte const> body) {
    Record* const receive = incoming_.find(of_number(note.number));
    if (!receive) return;
    std::uint64_t const wanted =
        std::min<std::uint64_t>(body.size(), receive->limit - receive->front);
    std::memcpy(receive->data + receive->front, body.data(), wanted);
    receive->front += wanted;
    receive->quiet_since = 0;
    if (receive->front < receive->limit) return;
    end_large(*incoming_.take(of_number(note.number)));
}

/// What the receiver says of a message that this rank announced.
void NodePeer::finish_send(Note const& note) {
    Record* const send = large_.find(of_number(note.number));
    if (!send) return;
    if (note.kind == CellKind::grant) send->granted = true;
    if (note.kind == CellKind::limit) send->limit = note.bytes;
    if (note.kind == CellKind::done) large_.take(of_number(note.number))->done = true;
}

bool NodePeer::send_pieces() {
    auto const wants_pieces = [](Record const& send) {
        return send.granted && send.front < send.limit;
    };
    bool moved = false;
    for (int piece = 0; piece < pieces_a_look; ++piece) {
        Record* const send = large_.find(wants_pieces);
        if (!send) break;
        std::uint64_t const bytes =
            std::min<std::uint64_t>(send->limit - send->front, shape_.body_max());
        Note const note{CellKind::piece, 0, 0, send->number};
        if (!post(note, {send->data + send->front, bytes})) break;
        send->front += bytes;
        moved = true;
    }
    return moved;
}

bool NodePeer::copy(double now) {
    Record* const receive = incoming_.front();
    if (!receive || !readable_) return false;
    if (receive->quiet_since == 0) receive->quiet_since = now;
    if (now - receive->quiet_since < patience_seconds) return false;
    std::uint64_t const end = receive->limit;
    std::uint64_t const begin = end - std::min(copy_max, end - receive->front);
    tell({CellKind::limit, 0, 0, receive->number, begin});
    ReadResult const result =
        read_memory(process_, receive->data + begin, receive->address + begin, end - begin);
    if (result == ReadResult::gone) {
        end_all();
        return true;
    }
    if (result == ReadResult::refused) {  // The sender's part then.
        readable_ = false;
        tell({CellKind::limit, 0, 0, receive->number, end});
        return false;
    }
    receive->limit = begin;
    if (receive->front == begin) end_large(*incoming_.take_front());
    return true;
}

}  // namespace sluice
