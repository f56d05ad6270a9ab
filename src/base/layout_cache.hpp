// Layouts by type tree: a program that makes its datatypes anew for each checkpoint finds the
// layouts of those before. Bounded; what was used longest ago goes first. Pure; not safe for
// several threads.
#pragma once
#include "base/layout.hpp"
#include "base/type_tree.hpp"

#include <list>
#include <unordered_map>

namespace sluice {

class LayoutCache {
public:
    explicit LayoutCache(Bytes most_bytes) noexcept : most_bytes_(most_bytes) {}

    /// The layout of an equal type tree, compared in full; null when there is none.
    [[nodiscard]] std::shared_ptr<Layout const> find(TypeTree const& type_tree);

    /// Keeps a layout, unless it alone is too large. Where one of an equal type tree was added
    /// meanwhile, that one is returned.
    std::shared_ptr<Layout const> add(std::shared_ptr<TypeTree const> type_tree,
                                      std::shared_ptr<Layout const> layout);

    void clear() noexcept;
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

private:
    struct Entry {
        std::shared_ptr<TypeTree const> type_tree;
        std::shared_ptr<Layout const> layout;
        Bytes bytes;
    };
    void drop_oldest();

    Bytes most_bytes_, bytes_ = 0;
    std::list<Entry> entries_;  ///< Used last: at the front.
    std::unordered_multimap<std::uint64_t, std::list<Entry>::iterator> by_hash_;
};

}  // namespace sluice
