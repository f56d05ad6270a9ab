// How messages are matched, and small ones moved. See node_peer.hpp; large ones are in
// node_peer_large.cpp.
#include "transport/node_peer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr int cells_a_look = 64;
constexpr std::size_t bytes_a_look = 128 * 1024;
constexpr double seconds_until_asked = 1.0;

void end_lost(MessageDesc& message_desc) noexcept {
    message_desc.end_failed(Status::other, "the process at the other end has ended");
}

auto of_triple(std::uint64_t context, int tag) noexcept {
    return [=](MessageDesc const& message_desc) {
        return message_desc.context == context && message_desc.tag == tag;
    };
}

}  // namespace

bool NodePeer::post(Note const& note, std::span<std::byte const> body) noexcept {
    if (!out_.post(note, body)) return false;
    ring_ = true;
    return true;
}

void NodePeer::tell(Note const& note) {
    if (!notes_.empty() || !post(note)) notes_.push_back(note);
}

bool NodePeer::try_send(MessageDesc& message_desc) noexcept {
    Note note{CellKind::whole, message_desc.tag, message_desc.context};
    if (message_desc.bytes <= whole_max())
        return post(note, {message_desc.data, message_desc.bytes});
    note.kind = CellKind::offer;
    note.number = offers_;
    note.bytes = message_desc.bytes;
    note.address = reinterpret_cast<std::uintptr_t>(message_desc.data);
    if (!post(note)) return false;
    message_desc.number = offers_++;
    message_desc.end = message_desc.bytes;
    return true;
}

MessageDesc* NodePeer::send(std::uint64_t context, int tag, std::span<std::byte const> bytes) {
    bool const is_small = bytes.size() <= whole_max();
    bool const first = waiting_.empty() && notes_.empty() && ending_.empty() && !gone_;
    if (is_small && first && post({CellKind::whole, tag, context}, bytes)) return nullptr;
    MessageDesc& message_desc = message_descs_->make();
    message_desc.context = context;
    message_desc.tag = tag;
    message_desc.data = const_cast<std::byte*>(bytes.data());  // NOLINT: only read.
    message_desc.bytes = bytes.size();
    if (gone_) {
        end_lost(message_desc);
        return &message_desc;
    }
    bool const offered = !is_small && first && try_send(message_desc);
    (offered ? large_ : waiting_).push_back(message_desc);
    return &message_desc;
}

MessageDesc& NodePeer::receive(std::uint64_t context, int tag, std::span<std::byte> bytes) {
    MessageDesc& message_desc = message_descs_->make();
    message_desc.context = context;
    message_desc.tag = tag;
    message_desc.data = bytes.data();
    message_desc.bytes = bytes.size();
    MessageDesc* const early = early_.empty() ? nullptr : early_.take(of_triple(context, tag));
    if (!early) {
        if (gone_)
            end_lost(message_desc);
        else
            posted_.push_back(message_desc);
        return message_desc;
    }
    if (early->store) {
        bring(message_desc, {early->data, early->bytes});
    } else {
        begin_large(message_desc, *early);
    }
    message_descs_->recycle(*early);
    return message_desc;
}

/// The whole of a message into its receive.
void NodePeer::bring(MessageDesc& receive, std::span<std::byte const> bytes) noexcept {
    receive.done = true;
    receive.fail_if_longer(bytes.size());
    receive.bytes = std::min<std::uint64_t>(receive.bytes, bytes.size());
    if (receive.bytes) std::memcpy(receive.data, bytes.data(), receive.bytes);
}

void NodePeer::deliver_whole(Note const& note, std::span<std::byte const> body) {
    if (MessageDesc* const receive = posted_.take(of_triple(note.context, note.tag))) {
        return bring(*receive, body);
    }
    MessageDesc& early = message_descs_->make();
    early.context = note.context;
    early.tag = note.tag;
    message_descs_->store(early, body.size());
    if (!body.empty()) std::memcpy(early.data, body.data(), body.size());
    early_.push_back(early);
}

void NodePeer::deliver(Cell const& cell) {
    Note const note = in_.note_in(cell);
    switch (note.kind) {
    case CellKind::whole:
        return deliver_whole(note, in_.body_of(cell));
    case CellKind::offer:
        return deliver_offer(note);
    case CellKind::fragment:
        return deliver_fragment(note, in_.body_of(cell));
    default:
        return finish_send(note);
    }
}

bool NodePeer::take_cells() {
    std::size_t bytes = 0;
    int cells = 0;
    for (; cells < cells_a_look && bytes < bytes_a_look; ++cells) {
        Cell const* const cell = in_.next();
        if (!cell) break;
        bytes += cell->bytes;
        deliver(*cell);
        if (in_.take(*cell)) ring_ = true;  // It may sleep until there is room.
    }
    return cells > 0;
}

bool NodePeer::send_waiting() {
    bool moved = false;
    while (!notes_.empty() && post(notes_.front())) {
        notes_.pop_front();
        moved = true;
    }
    moved |= end_told();
    if (!notes_.empty() || !ending_.empty()) return moved;
    while (!waiting_.empty() && try_send(*waiting_.front())) {
        MessageDesc& message_desc = *waiting_.take_front();
        moved = true;
        if (message_desc.bytes > whole_max()) {
            large_.push_back(message_desc);
        } else {
            message_desc.done = true;
        }
    }
    return moved;
}

bool NodePeer::move() {
    bool moved = take_cells();
    if (!notes_.empty() || !ending_.empty() || !waiting_.empty()) moved |= send_waiting();
    if (!large_.empty()) moved |= send_fragments();
    if (moved) quiet_since_ = 0;
    return moved;
}

bool NodePeer::look_after(double now) {
    if (gone_) return false;
    if (quiet_since_ == 0) quiet_since_ = now;
    if (now - quiet_since_ < seconds_until_asked) return false;
    quiet_since_ = now;
    if (!sluice::is_gone(process_)) return false;
    end_all();
    return true;
}

void NodePeer::end_all() {
    while (take_cells()) {
    }  // What it still said counts.
    gone_ = true;
    notes_.clear();
    while (!ending_.empty()) ending_.take_front()->done = true;
    for (MessageDescList* list : {&posted_, &waiting_, &large_, &incoming_}) {
        while (!list->empty()) end_lost(*list->take_front());
    }
    // An offered message can no longer be fetched; nobody will ask for it twice.
    auto const is_offered = [](MessageDesc const& early) { return !early.store; };
    while (MessageDesc* const lost = early_.take(is_offered)) message_descs_->recycle(*lost);
}

}  // namespace sluice
