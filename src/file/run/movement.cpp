// Placing, taking, packing and unpacking. See movement.hpp.
#include "file/run/movement.hpp"

#include <cstring>

namespace sluice {
namespace {

/// The part of a request that lies in a window: cursors at its first byte, and its length.
struct Part {
    Cursor file, memory;
    Bytes bytes;
};

Part part_in(Request const& request, Span window) noexcept {
    Span const p = positions_in(request, window);
    Layout const& none = *Layout::contiguous();
    if (p.empty()) return {{none, 0}, {none, 0}, 0};
    return {{*request.view.filetype, request.position + p.begin},
            {*request.memory, p.begin},
            p.bytes()};
}

/// From an offset in the view to a place in the collective buffer, in part `i` of the window.
Offset cb_buffer_shift(Request const& request, Window const& window, std::int64_t i) noexcept {
    return request.view.displacement - window.part(i).begin + window.place(i);
}

/// Private words for a coverage that came in a message.
class Scratch {
public:
    Scratch(Bytes window_bytes, Bytes granule_bytes)
        : words_(Coverage::words_for(window_bytes, granule_bytes)),
          coverage_(words_, granule_bytes, window_bytes) {}
    Coverage& coverage() noexcept { return coverage_; }

private:
    std::vector<std::uint64_t> words_;
    Coverage coverage_;
};

constexpr std::int64_t placed_parts_most = 64;

/// The covered stretches where all of them together are worth it; else none.
std::vector<PlacedPart> parts_of(Coverage const& coverage, std::byte const* data) {
    Bytes const bytes = coverage.marked_bytes();
    std::int64_t const parts_most =
        std::min<std::int64_t>(bytes / placed_part_bytes_least, placed_parts_most);
    std::vector<PlacedPart> parts;
    bool const are_few = coverage.for_each([&](Span s) {
        if (static_cast<std::int64_t>(parts.size()) == parts_most) return false;
        parts.push_back({data + s.begin, s.begin, s.bytes()});
        return true;
    });
    return are_few ? parts : std::vector<PlacedPart>{};
}

/// The parts as they lie one after the other, in the message behind its head: seen from the sender
/// or from the receiver.
enum class Side : std::uint8_t { sender, receiver };
void lay_in_message(Packed& packed, Side side) noexcept {
    auto at = static_cast<Bytes>(packed.head_bytes);
    for (PlacedPart& part : packed.parts) {
        if (side == Side::sender)
            part.memory = packed.message.data() + at;
        else
            part.at = at;
        at += part.length;
    }
}

void append_covered(Coverage const& coverage, std::byte const* data, ByteBuffer& message) {
    std::size_t at = message.size();
    message.resize(at + static_cast<std::size_t>(coverage.marked_bytes()));
    coverage.for_each([&](Span s) {
        auto const bytes = static_cast<std::size_t>(s.bytes());
        copy_piece(message.data() + at, data + s.begin, bytes);
        at += bytes;
        return true;
    });
}

bool spread_covered(Coverage const& coverage, std::span<std::byte const> from, std::byte* data) {
    return coverage.for_each([&](Span s) {
        auto const bytes = static_cast<std::size_t>(s.bytes());
        if (from.size() < bytes) return false;
        copy_piece(data + s.begin, from.data(), bytes);
        from = from.subspan(bytes);
        return true;
    });
}

void append_or_place(Coverage const& coverage, std::byte const* data, Packed& packed) {
    packed.head_bytes = packed.message.size();
    if (packed.places) packed.parts = parts_of(coverage, data);
    if (packed.parts.empty()) append_covered(coverage, data, packed.message);
}

}  // namespace

void mark(Request const& request, Window const& window, Coverage coverage) noexcept {
    for (std::int64_t i = 0; i < window.part_count; ++i) {
        auto [file, memory, bytes] = part_in(request, window.part(i));
        Offset const shift = cb_buffer_shift(request, window, i);
        while (bytes > 0) {
            Pieces pieces = file.pieces(bytes);
            file.advance(pieces);
            bytes -= pieces.bytes;
            pieces.offset += shift;
            coverage.mark(pieces);
        }
    }
}

void place(Request const& request, UserCopies& copies, Window const& window,
           CbBuffer const& cb_buffer, bool marks) {
    for (std::int64_t i = 0; i < window.part_count; ++i) {
        auto const [file, memory, bytes] = part_in(request, window.part(i));
        copies.add(memory, file, cb_buffer.data + cb_buffer_shift(request, window, i), bytes);
    }
    if (marks) mark(request, window, cb_buffer.coverage);
}

void take(Request const& request, UserCopies& copies, Window const& window,
          CbBuffer const& cb_buffer) {
    Offset const limit = cb_buffer.limit->load(std::memory_order_relaxed);
    for (std::int64_t i = 0; i < window.part_count; ++i) {
        Span const there = clip(window.part(i), {window.begin, limit});
        auto const [file, memory, bytes] = part_in(request, there);
        copies.add(memory, file, cb_buffer.data + cb_buffer_shift(request, window, i), bytes);
    }
}

void pack_written(CbBuffer const& cb_buffer, Packed& packed) {
    packed.message.clear();
    cb_buffer.coverage.encode(packed.message);
    append_or_place(cb_buffer.coverage, cb_buffer.data, packed);
}

void pack_wanted(CbBuffer const& cb_buffer, ByteBuffer& message) {
    message.clear();
    cb_buffer.coverage.encode(message);
}

void pack_answer(CbBuffer const& cb_buffer, std::span<std::byte const> wanted, Bytes window_bytes,
                 AnswerTo to, Packed& packed) {
    Scratch scratch(window_bytes, cb_buffer.coverage.granule_bytes());
    scratch.coverage().decode_and_mark(wanted);
    std::int64_t const limit = cb_buffer.limit->load(std::memory_order_relaxed);
    packed.message.resize(sizeof limit);
    std::memcpy(packed.message.data(), &limit, sizeof limit);
    append_or_place(scratch.coverage(), cb_buffer.data, packed);
    if (to == AnswerTo::message) lay_in_message(packed, Side::receiver);
}

bool unpack_written(std::span<std::byte const> message, Bytes placed, CbBuffer const& cb_buffer,
                    Bytes window_bytes) {
    Scratch scratch(window_bytes, cb_buffer.coverage.granule_bytes());
    auto const used = scratch.coverage().decode_and_mark(message);
    if (!used) return false;
    Coverage marks = cb_buffer.coverage;
    marks.mark(scratch.coverage());
    if (placed > 0) return scratch.coverage().marked_bytes() == placed;
    return spread_covered(scratch.coverage(), message.subspan(*used), cb_buffer.data);
}

bool unpack_wanted(std::span<std::byte const> message, CbBuffer const& cb_buffer) {
    Coverage marks = cb_buffer.coverage;
    return marks.decode_and_mark(message).has_value();
}

bool unpack_answer(std::span<std::byte const> message, Bytes placed, CbBuffer const& cb_buffer) {
    std::int64_t limit = 0;
    if (message.size() < sizeof limit) return false;
    std::memcpy(&limit, message.data(), sizeof limit);
    cb_buffer.limit->store(limit, std::memory_order_relaxed);
    if (placed > 0) return cb_buffer.coverage.marked_bytes() == placed;
    return spread_covered(cb_buffer.coverage, message.subspan(sizeof limit), cb_buffer.data);
}

void pack_own_wanted(Request const& request, Window const& window, Bytes window_bytes,
                     Bytes granule_bytes, ByteBuffer& message) {
    Scratch scratch(window_bytes, granule_bytes);
    mark(request, window, scratch.coverage());
    message.clear();
    scratch.coverage().encode(message);
}

void pack_own_written(Request const& request, UserCopies& copies, Window const& window,
                      Bytes window_bytes, Bytes granule_bytes, Packed& packed) {
    ByteBuffer& message = packed.message;
    Scratch scratch(window_bytes, granule_bytes);
    mark(request, window, scratch.coverage());
    message.clear();
    scratch.coverage().encode(message);
    packed.head_bytes = message.size();
    Bytes all = 0;
    for (std::int64_t i = 0; i < window.part_count; ++i)
        all += part_in(request, window.part(i)).bytes;
    message.resize(message.size() + static_cast<std::size_t>(all));
    std::byte* to = message.data() + packed.head_bytes;
    for (std::int64_t i = 0; i < window.part_count; ++i) {  // As the coverage orders them.
        auto const [file, memory, bytes] = part_in(request, window.part(i));
        copies.add(memory, {*Layout::contiguous(), 0}, to, bytes);
        to += bytes;
    }
    if (packed.places) packed.parts = parts_of(scratch.coverage(), nullptr);
    lay_in_message(packed, Side::sender);
}

bool unpack_own_answer(Request const& request, UserCopies& copies, Window const& window,
                       std::span<std::byte> message) {
    std::int64_t limit = 0;
    if (message.size() < sizeof limit) return false;
    std::memcpy(&limit, message.data(), sizeof limit);
    message = message.subspan(sizeof limit);
    for (std::int64_t i = 0; i < window.part_count; ++i) {
        Span const part = window.part(i);
        auto const wanted = static_cast<std::size_t>(positions_in(request, part).bytes());
        if (message.size() < wanted) return false;
        auto const there = part_in(request, clip(part, {window.begin, limit}));
        copies.add(there.memory, {*Layout::contiguous(), 0}, message.data(), there.bytes);
        message = message.subspan(wanted);
    }
    return true;
}

}  // namespace sluice
