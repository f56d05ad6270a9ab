// The ancestors of ops are kept as bits, and one sweep goes over the bytes that they touch. See
// order.hpp.
#include "simulate/proof/order.hpp"

#include "schedule/describe.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sluice {
namespace {

using Id = std::uint32_t;

std::span<Id const> edges_of(Schedule const& schedule, Id op) {
    Op const& o = schedule.ops[op];
    return std::span(schedule.edges).subspan(o.first_edge, o.edge_count);
}

/// Which ops are complete before others start: a bit for each pair.
class Ancestors {
public:
    explicit Ancestors(Schedule const& schedule)
        : words_((schedule.ops.size() + 63) / 64),
          bits_(schedule.ops.size() * words_) {
        for (Id op = 0; op < schedule.ops.size(); ++op) {
            for (Id const before : edges_of(schedule, op)) add(op, before);
        }
    }
    [[nodiscard]] bool has(Id op, Id before) const noexcept {
        return (bits_[op * words_ + before / 64] >> (before % 64) & 1) != 0;
    }

private:
    void add(Id op, Id before) noexcept {
        for (std::size_t w = 0; w < words_; ++w) {
            bits_[op * words_ + w] |= bits_[before * words_ + w];
        }
        bits_[op * words_ + before / 64] |= std::uint64_t{1} << (before % 64);
    }

    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

struct Access {
    Bytes begin, end;
    Id op;
    bool writes;
};

std::vector<Access> accesses(Schedule const& schedule, Memory memory) {
    std::vector<Access> all;
    for (Id i = 0; i < schedule.ops.size(); ++i) {
        Op const& op = schedule.ops[i];
        if (op.bytes == 0) continue;
        if (op.source == memory) all.push_back({op.source_at, op.source_at + op.bytes, i, false});
        if (op.target == memory) all.push_back({op.target_at, op.target_at + op.bytes, i, true});
    }
    std::sort(all.begin(), all.end(), [](Access const& a, Access const& b) {
        return std::tie(a.begin, a.op) < std::tie(b.begin, b.op);
    });
    return all;
}

/// Accesses that reach to where the sweep is.
class Open {
public:
    void add(Access const& access) { all_.push_back(access); }
    /// One that meets `access` and is not ordered with it.
    [[nodiscard]] Access const* unordered_with(Access const& access, Ancestors const& ancestors) {
        std::erase_if(all_, [&](Access const& a) { return a.end <= access.begin; });
        auto const found = std::find_if(all_.begin(), all_.end(), [&](Access const& a) {
            return !ancestors.has(std::max(a.op, access.op), std::min(a.op, access.op));
        });
        return found == all_.end() ? nullptr : &*found;
    }

private:
    std::vector<Access> all_;
};

std::string conflict(Schedule const& schedule, Ancestors const& ancestors, Memory memory) {
    Open reads, writes;
    for (Access const& access : accesses(schedule, memory)) {
        Access const* other = writes.unordered_with(access, ancestors);
        if (other == nullptr && access.writes) other = reads.unordered_with(access, ancestors);
        if (other != nullptr) {
            return "op " + std::to_string(other->op) + " (" + describe(schedule.ops[other->op]) +
                   ") and op " + std::to_string(access.op) + " (" +
                   describe(schedule.ops[access.op]) + ") touch the same bytes in any order";
        }
        (access.writes ? writes : reads).add(access);
    }
    return {};
}

/// Whether `before` has started whenever `op` starts.
bool starts_first(Schedule const& schedule, Ancestors const& ancestors, Id before, Id op) {
    if (ancestors.has(op, before)) return true;
    auto const edges = edges_of(schedule, before);
    return std::all_of(edges.begin(), edges.end(),
                       [&](Id edge) { return ancestors.has(op, edge); });
}

std::string message_fault(Schedule const& schedule, Ancestors const& ancestors) {
    std::map<std::tuple<OpKind, Rank, std::int64_t>, Id> last;
    for (Id i = 0; i < schedule.ops.size(); ++i) {
        Op const& op = schedule.ops[i];
        if (op.kind != OpKind::send && op.kind != OpKind::recv) continue;
        auto const [entry, is_first] = last.try_emplace({op.kind, op.peer, op.number}, i);
        if (!is_first && !starts_first(schedule, ancestors, entry->second, i)) {
            return "op " + std::to_string(i) + " (" + describe(op) + ") may start before op " +
                   std::to_string(entry->second);
        }
        entry->second = i;
    }
    return {};
}

}  // namespace

std::string order_fault(Schedule const& schedule) {
    Ancestors const ancestors(schedule);
    for (Memory const memory : {Memory::output, Memory::scratch}) {
        auto text = conflict(schedule, ancestors, memory);
        if (!text.empty()) return text;
    }
    return message_fault(schedule, ancestors);
}

}  // namespace sluice
