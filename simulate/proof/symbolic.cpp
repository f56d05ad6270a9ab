// How stretches of bytes with one origin are cut and joined. See symbolic.hpp.
#include "simulate/proof/symbolic.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

Contributors::Contributors(Rank ranks, bool ordered) : ordered_(ordered) {
    for (Rank r = 0; r < ranks; ++r) (void)of(r, r + 1);
}

Contributors::Id Contributors::intern(List const& list) {
    auto const [entry, is_new] = ids_.try_emplace(list, static_cast<Id>(lists_.size()));
    if (is_new) lists_.push_back(list);
    return entry->second;
}

Contributors::Id Contributors::of(Rank begin, Rank end) { return intern({{begin, end}}); }

std::optional<Contributors::Id> Contributors::combine(Id left, Id right) {
    auto const known = combined_.find({left, right});
    if (known != combined_.end()) return known->second;
    List all = lists_[static_cast<std::size_t>(left)];
    List const& more = lists_[static_cast<std::size_t>(right)];
    all.insert(all.end(), more.begin(), more.end());
    List sorted = all;
    std::sort(sorted.begin(), sorted.end());
    bool const twice = std::adjacent_find(sorted.begin(), sorted.end(), [](auto a, auto b) {
                           return a.second > b.first;
                       }) != sorted.end();
    List joined;
    for (Ranks const& ranks : ordered_ ? all : sorted) {
        if (!joined.empty() && joined.back().second == ranks.first) {
            joined.back().second = ranks.second;
        } else {
            joined.push_back(ranks);
        }
    }
    std::optional<Id> const made = twice ? std::nullopt : std::optional(intern(joined));
    combined_[{left, right}] = made;
    return made;
}

std::string Contributors::describe(Id id) const {
    if (id == nobody) return "nobody";
    std::string text;
    for (Ranks const& ranks : lists_[static_cast<std::size_t>(id)]) {
        text += (text.empty() ? "" : ", ") + std::to_string(ranks.first);
        if (ranks.second > ranks.first + 1) text += "-" + std::to_string(ranks.second - 1);
    }
    return text;
}

std::vector<ContentPiece> SymbolicMemory::read(Bytes at, Bytes bytes) const {
    std::vector<ContentPiece> pieces;
    auto stretch = std::prev(stretches_.upper_bound(at));
    for (Bytes const end = at + bytes; at < end;) {
        auto const next = std::next(stretch);
        Bytes const until = next == stretches_.end() ? end : std::min(end, next->first);
        pieces.push_back({until - at, stretch->second.after(at - stretch->first)});
        at = until;
        stretch = next;
    }
    return pieces;
}

/// Lets a stretch begin here.
SymbolicMemory::Stretches::iterator SymbolicMemory::split(Bytes at) {
    auto const next = stretches_.lower_bound(at);
    if (next != stretches_.end() && next->first == at) return next;
    auto const before = std::prev(next);
    return stretches_.emplace_hint(next, at, before->second.after(at - before->first));
}

/// Makes this stretch one with that before it, if it goes on in the same way.
void SymbolicMemory::join(Stretches::iterator at) {
    if (at == stretches_.begin() || at == stretches_.end()) return;
    auto const before = std::prev(at);
    if (before->second.after(at->first - before->first) == at->second) stretches_.erase(at);
}

void SymbolicMemory::write(Bytes at, std::vector<ContentPiece> const& pieces) {
    for (ContentPiece const& piece : pieces) {
        if (piece.bytes == 0) continue;
        auto const end = split(at + piece.bytes);
        auto const begin = split(at);
        begin->second = piece.content;
        stretches_.erase(std::next(begin), end);
        join(end);
        join(begin);
        at += piece.bytes;
    }
}

}  // namespace sluice
