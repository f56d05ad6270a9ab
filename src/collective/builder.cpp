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

void CollectiveBuilder::read(Memory memory, Bytes at, Bytes bytes, Ids& after) {
    Touches* const all = touches_of(memory);
    if (all == nullptr) return;
    for_each_stretch(*all, at, at + bytes, [&](Touched& stretch) {
        after.push_back(stretch.writer);
        stretch.readers.push_back(next_id());
    });
}

void CollectiveBuilder::write(Memory memory, Bytes at, Bytes bytes, Ids& after) {
    Touches* const all = touches_of(memory);
    if (all == nullptr) return;
    for_each_stretch(*all, at, at + bytes, [&](Touched& stretch) {
        // Readers wait for the writer themselves.
        if (stretch.readers.empty()) after.push_back(stretch.writer);
        after.insert(after.end(), stretch.readers.begin(), stretch.readers.end());
        stretch.writer = next_id();
        stretch.readers.clear();
    });
}

CollectiveBuilder::Id CollectiveBuilder::finish(Op const& op, Ids after) {
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    if (!after.empty() && after.back() == nothing) after.pop_back();
    if (!after.empty() && after.back() == next_id()) after.pop_back();  // Reads what it writes.
    return made_.schedule.add(op, after);
}

CollectiveBuilder::Id CollectiveBuilder::add_message(Op op, Ids after) {
    Messages& messages = (op.kind == OpKind::send ? sent_ : received_)[op.peer];
    auto const slot = static_cast<std::size_t>(messages.count % message_values);
    op.number = static_cast<std::uint16_t>(slot);
    if (messages.count++ < message_values) {
        messages.last.push_back(next_id());
    } else {
        after.push_back(messages.last[slot]);
        messages.last[slot] = next_id();
    }
    return finish(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::add(Op const& op, Ids after) {
    if (op.bytes == 0) return nothing;
    read(op.source, op.source_at, op.bytes, after);
    if (op.kind == OpKind::reduce) read(op.target, op.target_at, op.bytes, after);
    write(op.target, op.target_at, op.bytes, after);
    bool const is_message = op.kind == OpKind::send || op.kind == OpKind::recv;
    return is_message ? add_message(op, std::move(after)) : finish(op, std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::send(Rank to, Place from, Bytes bytes, Ids after) {
    return add(Op::send(from, to, bytes), std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::recv(Rank from, Place into, Bytes bytes, Ids after) {
    return add(Op::recv(into, from, bytes), std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::copy(Place from, Place into, Bytes bytes, Ids after) {
    return add(Op::copy(from, into, bytes), std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::reduce(Place from, Place into, Bytes bytes, Ids after) {
    return add(Op::reduce(from, into, bytes), std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::signal(Rank to, Ids after) {
    return add_message(Op::send(in_input, to, 0), std::move(after));
}

CollectiveBuilder::Id CollectiveBuilder::await_signal(Rank from, Ids after) {
    return add_message(Op::recv(in_output, from, 0), std::move(after));
}

Place CollectiveBuilder::scratch(Bytes bytes) noexcept {
    Place const place{Memory::scratch, made_.scratch};
    made_.scratch += bytes;
    return place;
}

}  // namespace sluice
