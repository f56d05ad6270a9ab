// How pieces become rows. See rows.hpp.
#include "base/rows.hpp"

#include "base/walk_both.hpp"

namespace sluice {
namespace {

/// One piece that lies behind one piece, on both sides.
bool touches(Rows const& last, Rows const& next) noexcept {
    return last.count == 1 && next.count == 1 && next.target == last.target + last.length &&
           next.source == last.source + last.length;
}

/// Makes `next` a part of `last`; false where it does not go on as that does.
bool join(Rows& last, Rows const& next) noexcept {
    if (touches(last, next)) {
        last.length += next.length;
        return true;
    }
    if (last.length != next.length) return false;
    Rows joined = last;
    if (last.count == 1) {
        joined.target_stride = next.target - last.target;
        joined.source_stride = next.source - last.source;
    }
    Rows expected = joined.piece(joined.count);
    if (next.count > 1)
        expected = {expected.target, expected.source,      joined.length,
                    next.count,      joined.target_stride, joined.source_stride};
    if (next != expected) return false;
    joined.count += next.count;
    last = joined;
    return true;
}

class Appended {
public:
    Appended(std::vector<Rows>& rows, Offset to, Offset from) noexcept
        : rows_(rows),
          to_(to),
          from_(from) {}

    void matching(Pieces const& t, Pieces const& s) {
        if (t.is_run() && s.is_run())
            return add({t.offset, s.offset, t.length, t.count, t.stride, s.stride});
        for (std::int64_t i = 0; i < t.count; ++i) add({t.offset_of(i), s.offset_of(i), t.length});
    }
    void scatter(Pieces const& t, Offset source) {
        if (t.is_run()) return add({t.offset, source, t.length, t.count, t.stride, t.length});
        t.for_each([&](Offset at, Bytes length) {
            add({at, source, length});
            source += length;
        });
    }
    void gather(Offset target, Pieces const& s) {
        if (s.is_run()) return add({target, s.offset, s.length, s.count, s.length, s.stride});
        s.for_each([&](Offset at, Bytes length) {
            add({target, at, length});
            target += length;
        });
    }

private:
    void add(Rows next) {
        next.target += to_;
        next.source += from_;
        if (next.count == 1) next.target_stride = next.source_stride = 0;
        bool const dense = next.target_stride == next.length && next.source_stride == next.length;
        if (dense) next = {next.target, next.source, next.bytes()};
        if (rows_.empty() || !join(rows_.back(), next)) rows_.push_back(next);
    }

    std::vector<Rows>& rows_;
    Offset to_, from_;
};

}  // namespace

void append_rows(std::vector<Rows>& rows, Cursor target, Offset to, Cursor source, Offset from,
                 Bytes bytes) {
    walk_both(target, source, bytes, Appended(rows, to, from));
}

}  // namespace sluice
