// How runs are joined while they are added, and lists made of what cannot be joined. See
// extent.hpp.
#include "base/extent.hpp"

#include <limits>
#include <numeric>

namespace sluice {
namespace {

/// Shorter runs are cheaper as entries of a list than as sections of their own.
constexpr std::int64_t run_pieces_min = 12;
constexpr Bytes listed_length_max = std::numeric_limits<std::uint16_t>::max();
/// A list of equal pieces that is at least this long is not spoiled by one of another length.
constexpr std::int64_t equal_pieces_kept = 64;
/// Shorter lists are copied where they repeat: a section of their own costs more than the entries.
constexpr std::int64_t shared_pieces_min = 24;

}  // namespace

Bytes Pieces::bytes_before(std::int64_t piece) const noexcept {
    if (lengths == nullptr) return piece * length;
    return std::accumulate(lengths, lengths + piece, Bytes{0});
}

Sections::Sections(std::vector<Run> const& runs) {
    Extents extents;
    for (Run const& run : runs) extents.add(run);
    *this = std::move(extents).take();
}

void Sections::append(Pieces const& pieces) {
    all_.push_back({pieces, bytes_, pieces_});
    bytes_ += pieces.bytes;
    pieces_ += pieces.count;
}

Bytes Sections::memory_bytes() const noexcept {
    return static_cast<Bytes>(all_.capacity() * sizeof(Section) + places_.bytes() +
                              lengths_.bytes());
}

void Extents::add(Run const& run) {
    if (run.length <= 0 || run.count <= 0) return;
    if (run.count == 1) return add_piece(run.offset, run.length);
    if (run.stride == run.length) return add_piece(run.offset, run.bytes());
    if (extend_last(run)) return;
    if (touches(run.offset)) {
        add_piece(run.offset, run.length);
        return add({run.offset + run.stride, run.length, run.stride, run.count - 1});
    }
    keep_last();
    last_ = run;
}

bool Extents::extend_last(Run const& run) {
    if (last_.length != run.length) return false;
    bool const same_step = last_.count == 1 || last_.stride == run.stride;
    if (!same_step || run.offset != last_.last_begin() + run.stride) return false;
    last_.stride = run.stride;
    last_.count += run.count;
    return true;
}

bool Extents::touches(Offset offset) const noexcept {
    return last_.count > 0 && offset == last_.last_begin() + last_.length;
}

void Extents::add_piece(Offset offset, Bytes length) {
    Offset const begin = last_.last_begin();
    if (touches(offset)) {
        // The last piece leaves its run, so that touching pieces always merge.
        Bytes const merged = last_.length + length;
        last_.count -= 1;
        keep_last();
        last_ = {begin, merged, 0, 1};
        return;
    }
    if (last_.length == length && last_.count == 1) {
        last_.stride = offset - last_.offset;
        last_.count = 2;
        return;
    }
    if (last_.length == length && offset == begin + last_.stride) {
        last_.count += 1;
        return;
    }
    keep_last();
    last_ = {offset, length, 0, 1};
}

void Extents::keep_last() {
    if (last_.count == 0) return;
    if (last_.count >= run_pieces_min || last_.length > listed_length_max) {
        keep_run(last_);
    } else {
        list(last_);
    }
    last_.count = last_.length = 0;
}

void Extents::keep_run(Run const& run) {
    close_list();
    done_.append({run.offset, run.length, run.stride, run.count, run.bytes()});
}

bool Extents::fits(Run const& run) const noexcept {
    if (open_.count + run.count > list_pieces_max) return false;
    Offset const first = run.offset - open_.offset, last = run.last_begin() - open_.offset;
    if (first != static_cast<std::int32_t>(first)) return false;
    if (last != static_cast<std::int32_t>(last)) return false;
    return open_.length == run.length || open_.length == 0 || open_.count < equal_pieces_kept;
}

void Extents::list(Run const& run) {
    if (open_.count > 0 && !fits(run)) close_list();
    if (open_.count == 0) {
        open_.offset = run.offset;
        open_.length = run.length;
        if (!fits(run)) return keep_run(run);  // Pieces too far apart for any list.
    }
    Offset place = run.offset - open_.offset;
    for (std::int64_t i = open_.count; i < open_.count + run.count; ++i, place += run.stride) {
        places_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(place);
        lengths_[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(run.length);
    }
    if (open_.length != run.length) open_.length = 0;
    open_.count += run.count;
    open_.bytes += run.bytes();
}

void Extents::close_list() {
    auto const count = static_cast<std::size_t>(open_.count);
    if (count > 1) {
        std::int32_t* const places = done_.places_.take(count);
        std::copy_n(places_.begin(), count, places);
        open_.places = places;
    }
    if (count > 1 && open_.length == 0) {
        std::uint16_t* const lengths = done_.lengths_.take(count);
        std::copy_n(lengths_.begin(), count, lengths);
        open_.lengths = lengths;
    }
    if (count > 0) done_.append(open_);
    open_ = {};
}

void Extents::add_section(Section const& section, Offset shift) {
    if (section.is_run()) {
        return add({section.offset + shift, section.length, section.stride, section.count});
    }
    if (section.count < shared_pieces_min) {
        for (std::int64_t i = 0; i < section.count; ++i) {
            add_piece(section.offset_of(i) + shift, section.length_of(i));
        }
        return;
    }
    keep_last();
    close_list();
    Pieces shifted = section;
    shifted.offset += shift;
    done_.append(shifted);
}

void Extents::add_repeated(Sections const& block, Offset shift, std::int64_t times, Offset step) {
    if (times <= 0) return;
    if (block.piece_count() == 1) {
        Section const& only = block.all().front();
        return add({only.offset + shift, only.length, step, times});
    }
    if (block.piece_count() >= shared_pieces_min) {
        done_.places_.share(block.places_);
        done_.lengths_.share(block.lengths_);
    }
    for (std::int64_t i = 0; i < times; ++i) {
        for (Section const& section : block.all()) add_section(section, shift + i * step);
    }
}

Sections Extents::take() && {
    keep_last();
    close_list();
    done_.all_.shrink_to_fit();
    return std::move(done_);
}

}  // namespace sluice
