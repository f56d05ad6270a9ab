// The cache is a list in the order of use, with an index. See layout_cache.hpp.
#include "base/layout_cache.hpp"

namespace sluice {
namespace {

constexpr std::size_t overhead_bytes = 256;  ///< Of the list, the index and the allocations.

Bytes memory_of(TypeTree const& type_tree, Layout const& layout) noexcept {
    return static_cast<Bytes>(overhead_bytes + type_tree.bytes()) + layout.memory_bytes();
}

}  // namespace

std::shared_ptr<Layout const> LayoutCache::find(TypeTree const& type_tree) {
    auto const [first, last] = by_hash_.equal_range(type_tree.hash());
    for (auto at = first; at != last; ++at) {
        if (!(*at->second->type_tree == type_tree)) continue;
        entries_.splice(entries_.begin(), entries_, at->second);
        return at->second->layout;
    }
    return nullptr;
}

std::shared_ptr<Layout const> LayoutCache::add(std::shared_ptr<TypeTree const> type_tree,
                                               std::shared_ptr<Layout const> layout) {
    if (auto before = find(*type_tree)) return before;
    Bytes const bytes = memory_of(*type_tree, *layout);
    if (bytes > most_bytes_) return layout;
    while (bytes_ > most_bytes_ - bytes) drop_oldest();
    std::uint64_t const hash = type_tree->hash();
    entries_.push_front({std::move(type_tree), layout, bytes});
    by_hash_.emplace(hash, entries_.begin());
    bytes_ += bytes;
    return layout;
}

void LayoutCache::drop_oldest() {
    auto const oldest = std::prev(entries_.end());
    auto const [first, last] = by_hash_.equal_range(oldest->type_tree->hash());
    for (auto at = first; at != last; ++at) {
        if (at->second != oldest) continue;
        by_hash_.erase(at);
        break;
    }
    bytes_ -= oldest->bytes;
    entries_.erase(oldest);
}

void LayoutCache::clear() noexcept {
    by_hash_.clear();
    entries_.clear();
    bytes_ = 0;
}

}  // namespace sluice
