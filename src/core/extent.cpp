// Merging of strided runs while they are added. Pure.
#include "core/extent.hpp"

namespace sluice {

void Extents::add(Run run) {
    if (run.length <= 0 || run.count <= 0) return;
    bool const dense = run.count > 1 && run.stride == run.length;
    if (dense) run = {run.offset, run.bytes(), 0, 1};
    if (run.count == 1) return add_piece(run.offset, run.length);
    if (!extend_last(run)) runs_.push_back(run);
}

bool Extents::extend_last(Run const& run) {
    if (runs_.empty()) return false;
    Run& last = runs_.back();
    if (last.length != run.length) return false;
    bool const same_step = last.count == 1 || last.stride == run.stride;
    if (!same_step || run.offset != last.last_begin() + run.stride) return false;
    last.stride = run.stride;
    last.count += run.count;
    return true;
}

void Extents::add_piece(Offset offset, Bytes length) {
    if (runs_.empty()) return runs_.push_back({offset, length, 0, 1});
    Run& last = runs_.back();
    bool const touches = offset == last.last_begin() + last.length;
    if (touches && last.count == 1) {
        last.length += length;
        return;
    }
    if (touches) {  // Split the last piece off its run, so that touching pieces always merge.
        Offset const begin = last.last_begin();
        last.count -= 1;
        runs_.push_back({begin, last.length + length, 0, 1});
        return;
    }
    if (last.length == length && last.count == 1) {
        last.stride = offset - last.offset;
        last.count = 2;
        return;
    }
    if (last.length == length && offset == last.last_begin() + last.stride) {
        last.count += 1;
        return;
    }
    runs_.push_back({offset, length, 0, 1});
}

void Extents::add_repeated(std::vector<Run> const& runs, Offset shift, std::int64_t times,
                           Offset step) {
    if (times <= 0) return;
    if (runs.size() == 1 && runs.front().count == 1) {
        Run const& block = runs.front();
        return add({block.offset + shift, block.length, step, times});
    }
    for (std::int64_t i = 0; i < times; ++i) {
        for (Run run : runs) {
            run.offset += shift + i * step;
            add(run);
        }
    }
}

}  // namespace sluice
