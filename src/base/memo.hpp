// Values that depend on a key, kept for the keys that came last. Users: base/layout.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

namespace sluice {

/// Belongs to a value that never changes. Copying gives one that has nothing computed yet.
template <typename Key, typename Value> class Memo {
public:
    Memo() = default;
    Memo(Memo const&) noexcept {}  // NOLINT(bugprone-copy-constructor-init)
    Memo& operator=(Memo const&) = delete;
    ~Memo() = default;

    /// What `compute()` returned for this key before, or returns now. Any threads at the same time:
    /// one computes, the others wait for it.
    template <typename Compute> Value get(Key const& key, Compute&& compute) const {
        std::lock_guard const lock(mutex_);
        if (!entries_) entries_.reset(new (std::nothrow) Entries);
        if (!entries_) return compute();
        std::size_t const known = std::min(made_, entries_->size());
        for (std::size_t i = 0; i < known; ++i) {
            if ((*entries_)[i].key == key) return (*entries_)[i].value;
        }
        Value const value = compute();
        (*entries_)[made_++ % entries_->size()] = {key, value};
        return value;
    }

private:
    struct Entry {
        Key key{};
        Value value{};
    };
    /// A layout is shared by the files of several communicators, each with a key of its own.
    using Entries = std::array<Entry, 8>;

    mutable std::unique_ptr<Entries> entries_;  ///< Most layouts are never asked.
    mutable std::size_t made_ = 0;
    mutable std::mutex mutex_;
};

}  // namespace sluice
