// Values that depend on a key, kept for the keys that came last. Users: core/layout.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>

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
        for (std::size_t i = 0; i < known_; ++i) {
            if (entries_[i].key == key) return entries_[i].value;
        }
        Entry& oldest = entries_[next_++ % entries_.size()];
        oldest = {key, compute()};
        known_ = std::max(known_, (next_ - 1) % entries_.size() + 1);
        return oldest.value;
    }

private:
    struct Entry {
        Key key{};
        Value value{};
    };
    /// A layout is shared by the files of several communicators, each with a key of its own.
    mutable std::array<Entry, 8> entries_;
    mutable std::size_t known_ = 0, next_ = 0;
    mutable std::mutex mutex_;
};

}  // namespace sluice
