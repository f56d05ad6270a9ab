// Walks over two layouts that hold the same bytes, in steps that are simple for both. Pure.
// Users: base/copy.cpp, base/rows.cpp.
#pragma once
#include "base/layout.hpp"

namespace sluice {

/// What lies ahead of `target` and of `source`, `bytes` bytes, step by step in their order:
/// `steps.matching(t, s)`: pieces of both sides that are equal in number and length;
/// `steps.scatter(t, source)`: pieces of the target that lie together at an offset of the source;
/// `steps.gather(target, s)`: the same the other way round.
template <class Steps> void walk_both(Cursor target, Cursor source, Bytes bytes, Steps&& steps) {
    auto const matching = [&]() -> Bytes {
        if (target.piece_left() != source.piece_left()) return 0;
        Pieces t = target.pieces(bytes), s = source.pieces(bytes);
        if (t.length == 0 || s.length == 0) return 0;
        t.count = s.count = std::min(t.count, s.count);
        t.bytes = s.bytes = t.count * t.length;
        steps.matching(t, s);
        target.advance(t);
        source.advance(s);
        return t.bytes;
    };
    while (bytes > 0) {
        Bytes const matched = matching();
        bytes -= matched;
        if (matched > 0) continue;
        Bytes const target_left = target.piece_left(), source_left = source.piece_left();
        if (target_left <= source_left) {
            Pieces const t = target.pieces(std::min(bytes, source_left));
            steps.scatter(t, source.offset());
            target.advance(t);
            source.advance_in_piece(t.bytes);
            bytes -= t.bytes;
        } else {
            Pieces const s = source.pieces(std::min(bytes, target_left));
            steps.gather(target.offset(), s);
            source.advance(s);
            target.advance_in_piece(s.bytes);
            bytes -= s.bytes;
        }
    }
}

}  // namespace sluice
