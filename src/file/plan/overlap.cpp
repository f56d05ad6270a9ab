// How blocks are marked and compared. See overlap.hpp.
#include "file/plan/overlap.hpp"

#include <bit>

namespace sluice {
namespace {

/// Powers of two, at their multiples: pieces of such lengths, which are the usual ones, share no
/// block with their neighbours then.
struct Blocks {
    explicit Blocks(Span stretch) noexcept {
        Bytes const least = (stretch.bytes() + BlockMarks::block_count - 2) /
                            (BlockMarks::block_count - 1);  // One more at the first border.
        bytes = static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(least)));
        begin = stretch.begin / bytes * bytes;
    }
    [[nodiscard]] Bytes block_of(Offset at) const noexcept { return (at - begin) / bytes; }
    [[nodiscard]] Offset end_of(Bytes block) const noexcept { return begin + (block + 1) * bytes; }

    Bytes bytes;
    Offset begin;
};

/// Where the positions [begin, end) of a tile lie, whatever their order.
Span reach_in_tile(Layout const& view, Bytes begin, Bytes end) noexcept {
    Span reach;
    Bytes before = 0;
    view.for_each_run([&](Run const& run) {
        Span const wanted = clip({begin - before, end - before}, {0, run.bytes()});
        before += run.bytes();
        if (wanted.empty()) return;
        Offset const first = run.offset + wanted.begin / run.length * run.stride;
        Offset const last = run.offset + (wanted.end - 1) / run.length * run.stride;
        reach = join(reach, {std::min(first, last), std::max(first, last) + run.length});
    });
    return reach;
}

/// Of a view without order.
Span reach_of_tiles(Request const& request) noexcept {
    Layout const& view = *request.view.filetype;
    Bytes const end = request.position + request.bytes, tile = view.tile_bytes();
    Offset const first = request.position / tile, last = (end - 1) / tile;
    Span const within =
        first == last ? reach_in_tile(view, request.position - first * tile, end - first * tile)
                      : view.tile_span();
    Offset const a = first * view.tile_extent(), b = last * view.tile_extent();
    return {request.view.displacement + std::min(a, b) + within.begin,
            request.view.displacement + std::max(a, b) + within.end};
}

}  // namespace

Span reach_of(Request const& request, bool beyond_end) noexcept {
    if (request.bytes <= 0) return {};
    Span const span =
        request.view.filetype->is_ascending() ? span_of(request) : reach_of_tiles(request);
    return beyond_end ? Span{span.begin, endless} : span;
}

void BlockMarks::mark_range(Bytes first, Bytes last) noexcept {
    for (Bytes block = first; block <= last; ++block) {
        words_[static_cast<std::size_t>(block / 64)] |= std::uint64_t{1} << (block % 64);
    }
}

/// From one wanted byte to the next one that lies in another block.
void BlockMarks::mark(Request const& request, Span stretch) noexcept {
    Span const within = clip(reach_of(request), stretch);
    if (within.empty()) return;
    Blocks const blocks(stretch);
    Layout const& view = *request.view.filetype;
    if (!view.is_ascending() || view.is_contiguous()) {
        return mark_range(blocks.block_of(within.begin), blocks.block_of(within.end - 1));
    }
    Span left = positions_in(request, within);
    while (!left.empty()) {
        Offset const at = offset_in_file(request, left.begin);
        Bytes const block = blocks.block_of(at);
        mark_range(block, block);
        Offset const end = std::min(blocks.end_of(block), within.end);
        left.begin = positions_in(request, {within.begin, end}).end;
    }
}

BlockMarks& BlockMarks::operator|=(BlockMarks const& other) noexcept {
    for (std::size_t i = 0; i < word_count; ++i) words_[i] |= other.words_[i];
    return *this;
}

bool BlockMarks::meets(BlockMarks const& other) const noexcept {
    std::uint64_t common = 0;
    for (std::size_t i = 0; i < word_count; ++i) common |= words_[i] & other.words_[i];
    return common != 0;
}

Overlap& Overlap::operator|=(Overlap const& other) noexcept {
    current |= other.current;
    earlier |= other.earlier;
    return *this;
}

void Overlap::lose() noexcept {
    current.mark_all();
    earlier.mark_all();
}

}  // namespace sluice
