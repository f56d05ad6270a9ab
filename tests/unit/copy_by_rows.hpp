// A copy as a device makes it: rows first, then all of their pieces.
#pragma once
#include "base/rows.hpp"

#include <cstring>

namespace sluice::testing {

inline void copy_by_rows(Cursor target, std::byte* to, Cursor source, std::byte const* from,
                         Bytes bytes) {
    std::vector<Rows> rows;
    append_rows(rows, target, reinterpret_cast<Offset>(to), source, reinterpret_cast<Offset>(from),
                bytes);
    for (Rows const& r : rows) {
        for (std::int64_t i = 0; i < r.count; ++i)
            std::memcpy(reinterpret_cast<void*>(r.piece(i).target),
                        reinterpret_cast<void const*>(r.piece(i).source),
                        static_cast<std::size_t>(r.length));
    }
}

}  // namespace sluice::testing
