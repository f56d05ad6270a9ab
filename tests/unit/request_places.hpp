// The bytes of a request, one by one: what tests compare lists of runs with.
#pragma once
#include "base/layout.hpp"
#include "base/request.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

/// Where `bytes` bytes of copies of the layout lie, from its byte number `position` on.
inline std::vector<Offset> places_in(Layout const& layout, Offset origin, Bytes position,
                                     Bytes bytes) {
    std::vector<Offset> all;
    all.reserve(static_cast<std::size_t>(bytes));
    Cursor cursor(layout, position);
    for (Bytes left = bytes; left > 0;) {
        Bytes const length = std::min(left, cursor.piece_left());
        for (Bytes i = 0; i < length; ++i) all.push_back(origin + cursor.offset() + i);
        left -= length;
        if (left > 0) cursor.advance(cursor.pieces(length));
    }
    return all;
}

inline std::vector<Offset> places_of(Request const& r) {
    return places_in(*r.view.filetype, r.view.displacement, r.position, r.bytes);
}

}  // namespace sluice
