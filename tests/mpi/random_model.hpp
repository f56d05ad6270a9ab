// What every rank knows of a file with one handle: its bytes, the views and pointers of all ranks,
// and which bytes may be under way. All ranks work it out alike, so all agree when accesses would
// conflict.
#pragma once
#include "random_plan.hpp"

namespace random_test {

/// What happened since all ranks were last known to be done.
struct Epoch {
    ByteSet written, read;
    bool grew = false;      ///< A write went behind the end of the file.
    bool saw_end = false;   ///< A result depended on where the file ends.
    bool alone = false;     ///< Ranks made calls that the others know nothing of.
    bool blocking = false;  ///< A collective call that may return while other ranks are at theirs.
    bool freed = false;     ///< Requests were freed: only sync and close complete those.
};

struct FileModel : HandleModel {
    model::File content;
    std::int64_t settled = 0;  ///< Size of the file at the begin of the epoch.
    Epoch epoch;

    FileModel(int its_ranks, Sizes its_sizes, bool without_sluice, std::int64_t prefilled)
        : HandleModel(its_ranks, its_sizes, without_sluice),
          content(prefilled),
          settled(prefilled) {}
    void settle() {
        epoch = {};
        settled = content.size();
    }
    Lengths lengths() const { return {content.size(), settled}; }

    bool conflicts(Demand const& demand, std::vector<Part> const& parts) const;
    void enter(Demand const& demand, std::vector<Part>& parts, std::uint64_t seed, int step);

private:
    bool behind_end(std::vector<Part> const& parts) const {
        return std::any_of(parts.begin(), parts.end(), [this](Part const& part) {
            return model::end_of(part.in_file) > settled;
        });
    }
};

/// Would the outcome depend on what may be under way?
inline bool FileModel::conflicts(Demand const& demand, std::vector<Part> const& parts) const {
    bool const writes = demand.direction == Direction::write;
    if (behind_end(parts) && (writes ? epoch.saw_end : epoch.grew)) return true;
    return std::any_of(parts.begin(), parts.end(), [&](Part const& part) {
        auto const bytes = touched(demand, part.in_file);
        return epoch.written.touches(bytes) || (writes && epoch.read.touches(bytes));
    });
}

/// The access happens now, as far as the model is concerned.
inline void FileModel::enter(Demand const& demand, std::vector<Part>& parts, std::uint64_t seed,
                             int step) {
    bool const behind = behind_end(parts);
    bool const writes = demand.direction == Direction::write;
    (writes ? epoch.grew : epoch.saw_end) |= behind;
    epoch.alone |= demand.independent;
    for (std::size_t r = 0; r < parts.size(); ++r) {
        Part& part = parts[r];
        if (writes) {
            auto const bytes = part.request.bytes();
            auto const data = model::data_of(seed, static_cast<int>(r), step, bytes);
            content.write(part.in_file, data);
            epoch.written.add(touched(demand, part.in_file));
        } else {
            part.moved = static_cast<std::int64_t>(content.read(part.in_file).size());
            epoch.read.add(part.in_file);
        }
        if (demand.pointer) positions[r] = part.request.position_after();
    }
}

}  // namespace random_test
