// The patterns of calls. See drawn_calls.hpp.
#include "drawn_calls.hpp"

#include "tests/unit/request_places.hpp"

#include <algorithm>

namespace sluice::swarm {
namespace {

std::shared_ptr<Layout const> layout_of(std::vector<Run> const& runs, Offset extent) {
    return std::make_shared<Layout const>(runs, extent);
}

/// Pieces of all ranks in turn, with holes behind them where there is room for more ranks.
View interleaved(Random random, Rank rank, Rank ranks) {
    auto const piece = random.one_of<Bytes>({1, 7, 64, 100, 1000, 4096});
    auto const lanes = ranks + (random.chance(40) ? random.between(1, 3) : 0);
    return {random.below<Offset>(10), layout_of({{rank * piece, piece, 0, 1}}, piece * lanes), 1};
}

/// Drawn pieces with holes between them, each rank in a lane of its own.
View scattered(Random all, Random random, Rank rank, Rank ranks) {
    Offset const steps = all.between<Offset>(1, 16), step = all.one_of<Offset>({16, 100, 700});
    std::vector<Run> runs{{rank * step, 1 + random.below(step), 0, 1}};
    for (Offset i = 1; i < steps; ++i) {
        if (random.chance(60))
            runs.push_back({(i * ranks + rank) * step, 1 + random.below(step), 0, 1});
    }
    return {0, layout_of(runs, steps * step * ranks), 1};
}

/// A run of equal pieces, which is one section however many there are.
View strided(Random all, Rank rank, Rank ranks) {
    Bytes const length = all.one_of<Bytes>({1, 8, 50, 512});
    std::int64_t const count = all.between<std::int64_t>(1, 12);
    Offset const stride = length * ranks;
    return {0, layout_of({{rank * length, length, stride, count}}, stride * count), 1};
}

Bytes draw_bytes(Random& random, Bytes most) {
    if (random.chance(15)) return 0;
    Bytes const usual = random.one_of<Bytes>({40, 500, 500, 3000});
    return random.between<Bytes>(1, std::min(most, usual));
}

/// One contiguous part of each rank, in a drawn order of the ranks.
std::vector<Request> blocks(Random random, CallLimits const& limits) {
    std::vector<Rank> order;
    for (Rank r = 0; r < limits.ranks; ++r) order.push_back(r);
    random.shuffle(order);
    std::vector<Request> all(static_cast<std::size_t>(limits.ranks));
    Offset next = 0;
    for (Rank const rank : order) {
        Random own = random.of(rank);
        Request& request = all[static_cast<std::size_t>(rank)];
        request.view.displacement = next + (own.chance(30) ? own.below<Offset>(200) : 0);
        request.bytes = draw_bytes(own, limits.bytes);
        next = request.view.displacement + request.bytes;
    }
    return all;
}

std::vector<Request> views(Random random, CallLimits const& limits, bool meets) {
    std::vector<Request> all;
    auto const kind = random.below(3);
    bool const alike = meets && random.chance(30);
    for (Rank r = 0; r < limits.ranks; ++r) {
        Random own = random.of(alike ? 0 : r);
        Rank const lane = alike ? 0 : r;
        Request request;
        request.view = kind == 0   ? interleaved(random.of(1000), lane, limits.ranks)
                       : kind == 1 ? scattered(random.of(1001), own.of(1), lane, limits.ranks)
                                   : strided(random.of(1002), lane, limits.ranks);
        request.bytes = draw_bytes(own, limits.bytes);
        if (own.chance(25)) request.position = own.below<Bytes>(300);
        if (meets && !alike) request.view.displacement += own.below<Offset>(500);
        all.push_back(std::move(request));
    }
    return all;
}

std::shared_ptr<Layout const> memory_layout(Random random) {
    Bytes const length = random.one_of<Bytes>({1, 3, 24, 256});
    Offset const gap = random.between<Offset>(1, 40);
    if (random.chance(50)) return layout_of({{0, length, 0, 1}}, length + gap);
    return layout_of({{random.below<Offset>(9), length, length + gap, 4}}, 4 * (length + gap) + 20);
}

}  // namespace

std::vector<DrawnPart> draw_parts(Random random, CallLimits const& limits, Offset at, Direction way,
                                  bool meets) {
    auto requests = !meets && random.chance(20) ? blocks(random.of(1), limits)
                                                : views(random.of(2), limits, meets);
    std::vector<DrawnPart> all;
    for (auto& request : requests) {
        Random own = random.of(100 + std::ssize(all));
        request.direction = way;
        request.view.displacement += at;
        if (limits.memory_layouts && own.chance(30)) request.memory = memory_layout(own.of(1));
        DrawnPart part;
        part.request = std::move(request);
        all.push_back(std::move(part));
    }
    return all;
}

void fill(DrawnPart& part, std::int64_t call, Rank rank) {
    Request const& r = part.request;
    part.in_file = places_of(r);
    part.in_memory = places_in(*r.memory, 0, 0, r.bytes);
    Offset const end = part.in_memory.empty() ? 0 : part.in_memory.back() + 1;
    part.memory.assign(static_cast<std::size_t>(end), unread);
    if (r.direction == Direction::read) return;
    Bytes i = 0;
    for (Offset const at : part.in_memory)
        part.memory[static_cast<std::size_t>(at)] = value_of(call, rank, i++);
}

}  // namespace sluice::swarm
