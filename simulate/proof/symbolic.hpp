// Symbolic memory, whose bytes say where they come from: the check of collectives computes with it.
// A stretch of any length is one entry, so large sizes cost no more than small ones. Tests and
// simulations use it, never production. Pure.
#pragma once
#include "base/extent.hpp"
#include "base/topology.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Lists of the ranks whose elements were combined, by number. Numbers below that of all ranks are
/// single ranks.
class Contributors {
public:
    using Id = std::int32_t;
    static constexpr Id nobody = -1;

    /// Ordered: lists of the same ranks in another order are different.
    Contributors(Rank ranks, bool ordered);

    /// The ranks [begin, end), in order.
    [[nodiscard]] Id of(Rank begin, Rank end);
    /// `left`, then `right`; nothing where a rank would be in it twice.
    [[nodiscard]] std::optional<Id> combine(Id left, Id right);
    [[nodiscard]] std::string describe(Id id) const;

private:
    using Ranks = std::pair<Rank, Rank>;  ///< [first, second).
    using List = std::vector<Ranks>;

    [[nodiscard]] Id intern(List const& list);

    bool ordered_;
    std::vector<List> lists_;
    std::map<List, Id> ids_;
    std::map<std::pair<Id, Id>, std::optional<Id>> combined_;
};

/// What a stretch of bytes holds: the bytes from position `at` on of what these ranks brought.
struct Content {
    Contributors::Id who = Contributors::nobody;
    Bytes at = 0;
    bool written = false;  ///< By an op.

    /// What lies `bytes` bytes further on in such a stretch.
    [[nodiscard]] Content after(Bytes bytes) const noexcept {
        return {who, who == Contributors::nobody ? 0 : at + bytes, written};
    }
    bool operator==(Content const&) const = default;
};

struct ContentPiece {
    Bytes bytes = 0;
    Content content;
};

class SymbolicMemory {
public:
    explicit SymbolicMemory(Bytes bytes) : bytes_(bytes), stretches_{{0, {}}} {}

    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::vector<ContentPiece> read(Bytes at, Bytes bytes) const;
    void write(Bytes at, std::vector<ContentPiece> const& pieces);

private:
    using Stretches = std::map<Bytes, Content>;  ///< Each reaches to the next.

    Stretches::iterator split(Bytes at);
    void join(Stretches::iterator at);

    Bytes bytes_;
    Stretches stretches_;
};

}  // namespace sluice
