// How messages are matched, and how large ones are offered, granted and then moved from both ends.
// See node_peer.hpp.
#include "transport/node_peer.hpp"

namespace sluice {
namespace {

constexpr int cells_a_look = 64;
constexpr std::size_t bytes_a_look = 128 * 1024;
constexpr double seconds_until_asked = 1.0;
/// How long the receiver leaves a message to its sender, which is faster where it looks.
constexpr double patience_seconds = 10e-6;
/// What it copies at once: a caller is held for some tens of microseconds at most.
constexpr std::uint64_t copy_max = 256 * 1024;
constexpr int fragments_a_look = 2;

constexpr EndReason lost{Status::other, "the process at the other end has ended"};

auto of_number(std::uint64_t number) noexcept {
    return [=](auto const& message) { return message.number == number; };
}

}  // namespace

bool NodePeer::post(Note const& note, std::span<std::byte const> body) noexcept {
    if (!out_.post(note, body)) return false;
    ring_ = true;
    return true;
}

void NodePeer::tell(Note const& note, NodeReceive* receive) {
    if (!told_.empty() || !post(note))
        told_.push_back({note, receive});
    else if (receive)
        receive->end();
}

/// It is complete, or offered, when it went.
bool NodePeer::try_send(NodeSend& send) noexcept {
    Note note{CellKind::whole, send.key.tag, send.key.context};
    if (send.bytes <= whole_max_) return post(note, {send.data, send.bytes});
    note.kind = CellKind::offer;
    note.number = send.number = offers_;
    note.bytes = send.back = send.bytes;
    note.address = reinterpret_cast<std::uintptr_t>(send.data);
    if (!post(note)) return false;
    ++offers_;
    return true;
}

NodeSend* NodePeer::send(MatchKey key, std::span<std::byte const> bytes) {
    bool const is_small = bytes.size() <= whole_max_;
    bool const first = waiting_.empty() && told_.empty() && !gone_;
    if (is_small && first && post({CellKind::whole, key.tag, key.context}, bytes)) return nullptr;
    NodeSend& send = messages_.make_send(key, bytes);
    if (gone_)
        send.end(&lost);
    else if (!is_small && first && try_send(send))
        large_.push_back(send);
    else
        waiting_.push_back(send);
    return &send;
}

NodeReceive& NodePeer::receive(MatchKey key, std::span<std::byte> bytes) {
    NodeReceive& receive = messages_.make_receive(key, bytes);
    bool const came = receives_.wait(
        receive, [&](Note const& note, std::span<std::byte const> body) { deliver(note, body); });
    if (!came && gone_) receives_.take(key)->end(&lost);
    return receive;
}

void NodePeer::deliver(Note const& note, std::span<std::byte const> body) {
    if (note.kind == CellKind::fragment) return deliver_fragment(note, body);
    if (note.kind != CellKind::whole && note.kind != CellKind::offer) return take_answer(note);
    MatchKey const key{note.context, note.tag};
    NodeReceive* const receive = receives_.take(key);
    if (!receive) return receives_.keep(key, note, body);
    if (note.kind == CellKind::offer) return begin_large(*receive, note);
    receive->copy(body);
    receive->end();
}

bool NodePeer::take_cells() {
    std::size_t bytes = 0;
    int cells = 0;
    for (; cells < cells_a_look && bytes < bytes_a_look; ++cells) {
        Cell const* const cell = in_.next();
        if (!cell) break;
        bytes += cell->bytes;
        deliver(in_.note_in(*cell), in_.body_of(*cell));
        if (in_.take(*cell)) ring_ = true;  // It may sleep until there is room.
    }
    return cells > 0;
}

bool NodePeer::send_waiting() {
    bool moved = false;
    for (; !told_.empty() && post(told_.front().note); told_.pop_front(), moved = true) {
        if (NodeReceive* const receive = told_.front().receive) receive->end();
    }
    for (; told_.empty() && !waiting_.empty() && try_send(*waiting_.front()); moved = true) {
        NodeSend& send = *waiting_.take_front();
        if (send.bytes > whole_max_)
            large_.push_back(send);
        else
            send.end();
    }
    return moved;
}

bool NodePeer::move() {
    bool moved = take_cells();
    if (!told_.empty() || !waiting_.empty()) moved |= send_waiting();
    if (!large_.empty()) moved |= send_fragments();
    if (moved) quiet_since_ = 0;
    return moved;
}

void NodePeer::begin_large(NodeReceive& receive, Note const& offer) {
    receive.number = offer.number;
    receive.fail_if_longer(offer.bytes);
    if (receive.failure) return end_large(receive);
    receive.bytes = receive.back = offer.bytes;
    receive.address = offer.address;
    incoming_.push_back(receive);
    tell({CellKind::grant, 0, 0, receive.number});
}

/// A receive is done only when its sender was told: who has no message under way looks no more, and
/// the sender would wait for ever.
void NodePeer::end_large(NodeReceive& receive) {
    tell({CellKind::done, 0, 0, receive.number}, &receive);
}

/// Fragments come in the order of the bytes. One may come for what was copied, or ended, meanwhile.
void NodePeer::deliver_fragment(Note const& note, std::span<std::byte const> body) {
    NodeReceive* const receive = incoming_.find(of_number(note.number));
    if (!receive) return;
    std::uint64_t const wanted =
        std::min<std::uint64_t>(body.size(), receive->back - receive->front);
    std::memcpy(receive->data + receive->front, body.data(), wanted);
    receive->front += wanted;
    receive->quiet_since = 0;
    if (receive->front < receive->back) return;
    incoming_.remove(*receive);
    end_large(*receive);
}

/// What the receiver says of a message that this rank offered.
void NodePeer::take_answer(Note const& note) {
    NodeSend* const send = large_.find(of_number(note.number));
    if (!send) return;
    if (note.kind == CellKind::grant) send->granted = true;
    if (note.kind == CellKind::shorten) send->back = note.bytes;
    if (note.kind != CellKind::done) return;
    large_.remove(*send);
    send->end();
}

bool NodePeer::send_fragments() {
    auto const wants_fragments = [](NodeSend const& send) {
        return send.granted && send.front < send.back;
    };
    bool moved = false;
    for (int fragment = 0; fragment < fragments_a_look; ++fragment) {
        NodeSend* const send = large_.find(wants_fragments);
        if (!send) break;
        std::uint64_t const bytes = std::min(send->back - send->front, whole_max_);
        Note const note{CellKind::fragment, 0, 0, send->number};
        if (!post(note, {send->data + send->front, bytes})) break;
        send->front += bytes;
        moved = true;
    }
    return moved;
}

bool NodePeer::copy(double now) {
    NodeReceive* const receive = incoming_.front();
    if (!receive || !readable_) return false;
    if (receive->quiet_since == 0) receive->quiet_since = now;
    if (now - receive->quiet_since < patience_seconds) return false;
    std::uint64_t const end_of_copy = receive->back;
    std::uint64_t const begin = end_of_copy - std::min(copy_max, end_of_copy - receive->front);
    tell({CellKind::shorten, 0, 0, receive->number, begin});
    ReadResult const result =
        read_memory(process_, receive->data + begin, receive->address + begin, end_of_copy - begin);
    if (result == ReadResult::gone) {
        end();
        return true;
    }
    if (result == ReadResult::refused) {  // The sender's part then.
        readable_ = false;
        tell({CellKind::shorten, 0, 0, receive->number, end_of_copy});
        return false;
    }
    receive->back = begin;
    if (receive->front == begin) end_large(*incoming_.take_front());
    return true;
}

bool NodePeer::look_after(double now) {
    if (gone_) return false;
    if (quiet_since_ == 0) quiet_since_ = now;
    if (now - quiet_since_ < seconds_until_asked) return false;
    quiet_since_ = now;
    if (!sluice::is_gone(process_)) return false;
    end();
    return true;
}

/// The peer is gone.
void NodePeer::end() {
    while (take_cells()) {
    }  // What it still said counts.
    gone_ = true;
    for (Told const& told : told_) {
        if (told.receive) told.receive->end();
    }
    told_.clear();
    auto const all = [](auto const&) { return true; };
    while (NodeReceive* const receive = receives_.take_any(all)) receive->end(&lost);
    while (NodeReceive* const receive = incoming_.take_front()) receive->end(&lost);
    for (LinkedList<NodeSend>* const list : {&waiting_, &large_}) {
        while (NodeSend* const send = list->take_front()) send->end(&lost);
    }
    // An offered message can no longer be fetched; nobody will ask for it twice.
    receives_.drop([](auto const& early) { return early.header.kind == CellKind::offer; });
}

}  // namespace sluice
