// What the ranks that share a handle ask for: their views and pointers, and what is drawn for each
// of them in one access. All ranks work it out alike.
#pragma once
#include "access.hpp"
#include "random_views.hpp"

#include <map>
#include <optional>

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
    bool empty() const { return ends_.empty(); }
    model::Blocks blocks() const {
        model::Blocks result;
        for (auto const& [end, begin] : ends_) result.push_back({begin, end - begin});
        return result;
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
    bool independent = false;  ///< A call that the MPI itself may serve.
    int percent = 85;          ///< Of the ranks have bytes.
    /// Where the shared file pointer is: the parts of the ranks follow each other from there.
    std::optional<std::int64_t> from_shared = {};
};

/// How long a file is.
struct Lengths {
    std::int64_t now = 0;      ///< When all that was started has ended.
    std::int64_t settled = 0;  ///< When all ranks were last known to be done.
};

struct HandleModel {
    int ranks = 1;
    Sizes sizes{};
    bool plain = false;  ///< Without Sluice: writes may write back what they read between pieces.
    Views views;
    std::vector<std::int64_t> positions;
    bool atomic = false;

    HandleModel(int its_ranks, Sizes its_sizes, bool without_sluice)
        : ranks(its_ranks),
          sizes(its_sizes),
          plain(without_sluice) {
        set_views(default_views(ranks));
    }
    void set_views(Views its_views) {
        views = std::move(its_views);
        positions.assign(static_cast<std::size_t>(ranks), 0);
    }
    std::int64_t unit() const { return model::element(views.etype.type).size(); }
    RankView const& view(int rank) const { return views.of[static_cast<std::size_t>(rank)]; }

    std::vector<Part> plan(Demand const& demand, std::uint64_t seed, int step, Lengths file) const;

    /// The bytes that an access may change, or that a read looks at.
    model::Blocks touched(Demand const& demand, model::Blocks const& blocks) const {
        bool const writes_back = plain && demand.independent &&
                                 demand.direction == Direction::write && blocks.size() > 1;
        if (!writes_back) return blocks;
        auto const begin = blocks.front().offset;
        return {{begin, model::end_of(blocks) - begin}};
    }

    bool strays(Demand const& demand, Part const& part, std::int64_t size) const;

private:
    Part part_of(int rank, std::int64_t offset, std::int64_t bytes, Random& random,
                 Demand const& demand) const;
};

/// A memory type for about this many bytes, and how many of it.
inline Part HandleModel::part_of(int rank, std::int64_t offset, std::int64_t bytes, Random& random,
                                 Demand const& demand) const {
    auto const& mine = view(rank);
    Element const element = element_of(random, unit());
    Part part;
    part.request.view = {mine.displacement, views.etype.type, mine.filetype.layout};
    part.request.offset = offset;
    Named memory = named(element);
    if (random.chance(50)) {
        auto const limit = std::clamp<std::int64_t>(bytes, unit(), sizes.type);
        auto const use = demand.independent || plain ? Use::view : Use::memory;
        memory = TypeMaker(random, use, limit).make(element, sizes.piece);
    }
    bool const nothing = bytes == 0 || mine.filetype.layout.size() == 0;
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

/// Left out are scattered independent accesses behind the end of the file, because the MPIs' own
/// writes leave in the holes what they found in their memory, and their reads deliver too much; and
/// without Sluice all reads across the end, of which they count the bytes behind it.
inline bool HandleModel::strays(Demand const& demand, Part const& part, std::int64_t size) const {
    if (model::end_of(part.in_file) <= size) return false;
    bool const reads = demand.direction == Direction::read;
    if (plain && reads) return true;
    return demand.independent && part.scattered() && (plain || reads);
}

inline std::vector<Part> HandleModel::plan(Demand const& demand, std::uint64_t seed, int step,
                                           Lengths file) const {
    Random shared(seed, {step, 1});
    bool const writes = demand.direction == Direction::write;
    bool const in_row = demand.from_shared || (writes && !views.disjoint);
    bool const equal = shared.chance(40), tiny = shared.chance(30);
    auto const most = tiny ? 8 * unit() : sizes.transfer;
    auto const bytes_of_all = shared.between(unit(), most);
    auto base = shared.below(file.now / unit() / ranks * 5 / 4 + 8);
    if (demand.from_shared) base = *demand.from_shared;
    std::vector<Part> parts;
    ByteSet taken;
    for (int rank = 0; rank < ranks; ++rank) {
        Random random(seed, {step, 2, rank});
        std::int64_t bytes = equal ? bytes_of_all : random.between(unit(), most);
        if (!random.chance(demand.percent)) bytes = 0;
        auto const gap = random.chance(20) && !demand.from_shared ? random.between(0, 9) : 0;
        auto const offset = demand.pointer ? positions[static_cast<std::size_t>(rank)] : base + gap;
        Part part = part_of(rank, offset, bytes, random, demand);
        auto const touches = touched(demand, part.in_file);
        bool const clash = writes && taken.touches(touches);
        if (clash || strays(demand, part, file.settled) ||
            model::end_of(part.in_file) > sizes.file) {
            part.request.count = 0;
            part.in_file.clear();
        } else if (writes) {
            taken.add(touches);
        }
        if (in_row) base += gap + part.request.bytes() / unit();
        part.moved = part.request.bytes();
        parts.push_back(std::move(part));
    }
    return parts;
}

}  // namespace random_test
