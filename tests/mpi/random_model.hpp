// What every rank knows of a file: its bytes, the views and pointers of all ranks, and which bytes
// may be under way. All ranks work it out alike, so all agree when accesses would conflict.
#pragma once
#include "access.hpp"
#include "random_views.hpp"

#include <map>

namespace random_test {

using access_form::Direction;

/// A set of bytes.
class ByteSet {
public:
    void add(model::Blocks const& blocks) {
        for (auto const& block : blocks) add(block.offset, block.offset + block.bytes);
    }
    bool touches(model::Blocks const& blocks) const {
        return std::any_of(blocks.begin(), blocks.end(), [this](model::Block const& block) {
            auto const next = ends_.upper_bound(block.offset);
            return next != ends_.end() && next->second < block.offset + block.bytes;
        });
    }

private:
    void add(std::int64_t begin, std::int64_t end) {
        auto next = ends_.lower_bound(begin);
        while (next != ends_.end() && next->second <= end) {
            begin = std::min(begin, next->second);
            end = std::max(end, next->first);
            next = ends_.erase(next);
        }
        ends_[end] = begin;
    }
    std::map<std::int64_t, std::int64_t> ends_;  ///< End of an interval -> its begin.
};

/// What happened since all ranks were last known to be done.
struct Epoch {
    ByteSet written, read;
    bool grew = false;      ///< A write went behind the end of the file.
    bool saw_end = false;   ///< A result depended on where the file ends.
    bool alone = false;     ///< Ranks made calls that the others know nothing of.
    bool blocking = false;  ///< A collective call that may return while other ranks are at theirs.
    bool freed = false;     ///< Requests were freed: only sync and close complete those.
};

/// One rank's part of an access.
struct Part {
    model::Request request;
    std::string memory;  ///< The memory type, in words.
    model::Blocks in_file;
    std::int64_t moved = 0;  ///< Bytes: less than asked for where the file ends.

    bool scattered() const {
        auto const dense = [](model::Layout const& tile) {
            return tile.size() == tile.extent() && tile.lower == 0;
        };
        return !dense(request.view.filetype) || !dense(request.memory);
    }
};

/// What the ranks are asked to do; the rest is drawn.
struct Demand {
    Direction direction = Direction::write;
    bool pointer = false;      ///< With the individual file pointer.
    bool independent = false;  ///< A call of single ranks, served by the MPI.
    int percent = 85;          ///< Of the ranks have bytes.
};

struct FileModel {
    int ranks = 1;
    Sizes sizes{};
    Views views;
    std::vector<std::int64_t> positions;
    model::File content;
    std::int64_t settled = 0;  ///< Size of the file at the begin of the epoch.
    Epoch epoch;
    bool atomic = false;

    FileModel(int its_ranks, Sizes its_sizes, std::int64_t prefilled)
        : ranks(its_ranks),
          sizes(its_sizes),
          content(prefilled),
          settled(prefilled) {
        set_views(default_views(ranks));
    }
    void set_views(Views its_views) {
        views = std::move(its_views);
        positions.assign(static_cast<std::size_t>(ranks), 0);
    }
    std::int64_t unit() const { return model::element(views.etype.type).size(); }
    void settle() {
        epoch = {};
        settled = content.size();
    }

    std::vector<Part> plan(Demand const& demand, std::uint64_t seed, int step) const;
    bool conflicts(Demand const& demand, std::vector<Part> const& parts) const;
    void enter(Demand const& demand, std::vector<Part>& parts, std::uint64_t seed, int step);

    bool behind_end(std::vector<Part> const& parts) const {
        return std::any_of(parts.begin(), parts.end(), [this](Part const& part) {
            return model::end_of(part.in_file) > settled;
        });
    }

private:
    Part part_of(int rank, std::int64_t offset, std::int64_t bytes, Random& random,
                 Demand const& demand) const;
};

/// A write of the MPI's own with holes may write back what it read in them.
inline model::Blocks disturbed(Demand const& demand, model::Blocks const& blocks) {
    if (!demand.independent || demand.direction == Direction::read || blocks.size() < 2) {
        return blocks;
    }
    auto const begin = blocks.front().offset;
    return {{begin, model::end_of(blocks) - begin}};
}

/// A memory type for about this many bytes, and how many of it.
inline Part FileModel::part_of(int rank, std::int64_t offset, std::int64_t bytes, Random& random,
                               Demand const& demand) const {
    auto const& view = views.of[static_cast<std::size_t>(rank)];
    Element const element = element_of(random, unit());
    Part part;
    part.request.view = {view.displacement, views.etype.type, view.filetype.layout};
    part.request.offset = offset;
    Named memory = named(element);
    if (random.chance(50)) {
        auto const limit = std::clamp<std::int64_t>(bytes, unit(), sizes.type);
        auto const use = demand.independent ? Use::view : Use::memory;
        memory = TypeMaker(random, use, limit).make(element, sizes.piece);
    }
    bool const nothing = bytes == 0 || view.filetype.layout.size() == 0;
    if (nothing && !demand.independent && random.chance(20)) {
        memory = TypeMaker::contiguous(memory, 0);
        part.request.count = random.between(0, 3);
    } else if (!nothing) {
        auto const count = std::max<std::int64_t>(bytes / memory.layout.size(), 1);
        part.request.count = static_cast<int>(count);
    }
    part.request.memory = memory.layout;
    part.memory = memory.text;
    part.in_file = part.request.in_file();
    return part;
}

/// Left out are scattered independent accesses behind the end of the file: the MPIs' own writes
/// leave in the holes what they found in their memory, and their reads deliver too much.
inline std::vector<Part> FileModel::plan(Demand const& demand, std::uint64_t seed, int step) const {
    Random shared(seed, {step, 1});
    bool const equal = shared.chance(40), tiny = shared.chance(30);
    auto const most = tiny ? 8 * unit() : sizes.transfer;
    auto const bytes_of_all = shared.between(unit(), most);
    auto const base = shared.below(content.size() / unit() / ranks * 5 / 4 + 8);
    std::vector<Part> parts;
    ByteSet taken;
    std::int64_t before = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        Random random(seed, {step, 2, rank});
        std::int64_t bytes = equal ? bytes_of_all : random.between(unit(), most);
        if (!random.chance(demand.percent)) bytes = 0;
        std::int64_t offset = base + (random.chance(20) ? random.between(0, 9) : 0);
        if (!views.disjoint && demand.direction == Direction::write) offset = base + before;
        if (demand.pointer) offset = positions[static_cast<std::size_t>(rank)];
        Part part = part_of(rank, offset, bytes, random, demand);
        auto const touched = disturbed(demand, part.in_file);
        bool const clash = demand.direction == Direction::write && taken.touches(touched);
        bool const strays = demand.independent && part.scattered() && behind_end({part});
        if (clash || strays || model::end_of(part.in_file) > sizes.file) {
            part.request.count = 0;
            part.in_file.clear();
        } else if (demand.direction == Direction::write) {
            taken.add(touched);
        }
        before += part.request.bytes() / unit() + (random.chance(20) ? random.between(0, 20) : 0);
        part.moved = part.request.bytes();
        parts.push_back(std::move(part));
    }
    return parts;
}

/// Would the outcome depend on what may be under way?
inline bool FileModel::conflicts(Demand const& demand, std::vector<Part> const& parts) const {
    bool const writes = demand.direction == Direction::write;
    if (behind_end(parts) && (writes ? epoch.saw_end : epoch.grew)) return true;
    return std::any_of(parts.begin(), parts.end(), [&](Part const& part) {
        auto const touched = disturbed(demand, part.in_file);
        return epoch.written.touches(touched) || (writes && epoch.read.touches(touched));
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
            epoch.written.add(disturbed(demand, part.in_file));
        } else {
            part.moved = static_cast<std::int64_t>(content.read(part.in_file).size());
            epoch.read.add(part.in_file);
        }
        if (demand.pointer) positions[r] = part.request.position_after();
    }
}

}  // namespace random_test
