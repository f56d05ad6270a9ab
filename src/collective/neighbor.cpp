// Algorithms of neighbourhood collectives: messages along the edges of a graph. Two ranks may share
// several edges; the nth that goes out is the nth that comes in.
#include "collective/parts.hpp"

namespace sluice {
namespace {

struct Neighbors {
    bool one_block;  ///< All destinations get the same.
    BlockMap sent, received;

    explicit Neighbors(CollectiveCall const& call)
        : one_block(call.kind == CollectiveKind::neighbor_allgather ||
                    call.kind == CollectiveKind::neighbor_allgatherv),
          sent(call.kind == CollectiveKind::neighbor_alltoallv ? BlockMap(call.inputs)
                                                               : BlockMap(call.block)),
          received(call.kind == CollectiveKind::neighbor_alltoallv ||
                           call.kind == CollectiveKind::neighbor_allgatherv
                       ? BlockMap(call.outputs)
                       : BlockMap(call.block)) {}

    [[nodiscard]] Place source(Rank i) const noexcept {
        return in_input + (one_block ? 0 : sent.at(i));
    }
    [[nodiscard]] Bytes source_bytes(Rank i) const noexcept {
        return one_block ? sent.bytes(0) : sent.bytes(i);
    }
    [[nodiscard]] Place target(Rank i) const noexcept { return in_output + received.at(i); }
};

}  // namespace

void add_neighbors(CollectiveBuilder& to, Part const& part) {
    Neighbors const blocks(part.call);
    auto const& destinations = part.call.destinations;
    auto const& sources = part.call.sources;
    std::vector<Rank> own;  // Edges to itself.
    for (std::size_t i = 0; i < destinations.size(); ++i) {
        auto const n = static_cast<Rank>(i);
        if (destinations[i] == part.self) {
            own.push_back(n);
        } else if (destinations[i] >= 0) {
            to.send(destinations[i], blocks.source(n), blocks.source_bytes(n));
        }
    }
    auto next_own = own.begin();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        auto const n = static_cast<Rank>(i);
        if (sources[i] == part.self) {
            Rank const from = *next_own++;
            to.copy(blocks.source(from), blocks.target(n), blocks.source_bytes(from));
        } else if (sources[i] >= 0) {
            to.recv(sources[i], blocks.target(n), blocks.received.bytes(n));
        }
    }
}

}  // namespace sluice
