// How the dependencies of ops follow from the bytes that they touch. See builder.hpp.
#include "collective/builder.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {
namespace {

constexpr std::int64_t message_values = 64;

/// Lets a stretch begin at this place, if one reaches across it.
template <class Touches> void split(Touches& all, Bytes at) {
    auto next = all.lower_bound(at);
    if (next == all.begin()) return;
    auto const before = std::prev(next);
    if (before->second.end <= at) return;
    auto rest = before->second;
    before->second.end = at;
    all.emplace_hint(next, at, std::move(rest));
}

/// Calls `visit` for stretches that together are exactly [begin, end); new ones where nothing was.
template <class Touches, class Visit>
void for_each_stretch(Touches& all, Bytes begin, Bytes end, Visit&& visit) {
    split(all, begin);
    split(all, end);
    auto next = all.lower_bound(begin);
    while (begin < end) {
        if (next == all.end() || next->first > begin) {
            Bytes const until = next == all.end() ? end : std::min(end, next->first);
            next = all.emplace_hint(
                next, begin, typename Touches::mapped_type{until, CollectiveBuilder::nothing, {}});
        }
        visit(next->second);
        begin = next->second.end;
        ++next;
    }
}

}  // namespace

CollectiveBuilder::Touches* CollectiveBuilder::touches_of(Memory memory) noexcept {
    if (memory == Memory::output) return &output_;
    if (memory == Memory::scratch) return &scratch_;
    return nullptr;
}

void CollectiveBuilder::read(Place place, Bytes bytes, Id id, Ids& after) {
    Touches* const all = touches_of(place.memory);
    if (all == nullptr) return;
    for_each_stretch(*all, place.at, place.at + bytes, [&](Touched& stretch) {
        after.push_back(stretch.writer);
        stretch.readers.push_back(id);
    });
}

void CollectiveBuilder::write(Place place, Bytes bytes, Id id, Ids& after) {
    Touches* const all = touches_of(place.memory);
    if (all == nullptr) return;
    for_each_stretch(*all, place.at, place.at + bytes, [&](Touched& stretch) {
        // Readers wait for the writer themselves.
        if (stretch.readers.empty()) after.push_back(stretch.writer);
        after.insert(after.end(), stretch.readers.begin(), stretch.readers.end());
        stretch.writer = id;
        stretch.readers.clear();
    });
}

CollectiveBuilder::Id CollectiveBuilder::finish(Op op, Ids after) {
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    if (!after.empty() && after.back() == nothing) after.pop_back();
    if (!after.empty() && after.back() == next_id()) after.pop_back();  // Reads what it writes.
    op.channel = Channel::collective;
    return made_.schedule.add(op, after);
}

CollectiveBuilder::Id CollectiveBuilder::add_message(Op op, Ids after) {
    Messages& messages = (op.kind == OpKind::send ? sent_ : received_)[op.peer];
    op.value = messages.count % message_values;
    auto const slot = static_cast<std::size_t>(op.value);
    if (messages.count++ < message_values) {
        messages.last.push_back(next_id());
    } else {
        after.push_back(messages.last[slot]);
        messages.last[slot] = next_id();
    }
    return finish(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::add(OpKind kind, Place from, Place into, Bytes bytes,
                                             Ids after) {
    if (bytes == 0) return nothing;
    Id const id = next_id();
    read(from, bytes, id, after);
    if (kind == OpKind::reduce) read(into, bytes, id, after);
    write(into, bytes, id, after);
    Op op{.kind = kind, .source = from.memory, .target = into.memory};
    op.source_at = from.at, op.target_at = into.at, op.bytes = bytes;
    return finish(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::send(Rank to, Place from, Bytes bytes, Ids after) {
    if (bytes == 0) return nothing;
    read(from, bytes, next_id(), after);
    Op op{.kind = OpKind::send, .source = from.memory, .peer = to};
    op.source_at = from.at, op.bytes = bytes;
    return add_message(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::recv(Rank from, Place into, Bytes bytes, Ids after) {
    if (bytes == 0) return nothing;
    write(into, bytes, next_id(), after);
    Op op{.kind = OpKind::recv, .target = into.memory, .peer = from};
    op.target_at = into.at, op.bytes = bytes;
    return add_message(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::copy(Place from, Place into, Bytes bytes, Ids after) {
    return add(OpKind::copy, from, into, bytes, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::reduce(Place from, Place into, Bytes bytes, Ids after) {
    return add(OpKind::reduce, from, into, bytes, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::signal(Rank to, Ids after) {
    return add_message({.kind = OpKind::send, .source = Memory::input, .peer = to},
                       std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::await_signal(Rank from, Ids after) {
    return add_message({.kind = OpKind::recv, .target = Memory::output, .peer = from},
                       std::move(after));
}

Place CollectiveBuilder::scratch(Bytes bytes) noexcept {
    Place const place{Memory::scratch, made_.scratch};
    made_.scratch += bytes;
    return place;
}

}  // namespace sluice
