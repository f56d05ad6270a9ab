// Values that depend on a key, kept for the keys that came last. Users: core/layout.hpp.
#pragma once
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

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
        for (Entry const& entry : entries_) {
            if (entry.key == key) return entry.value;
        }
        Entry const made{key, compute()};
        keep(made);
        return made.value;
    }

private:
    struct Entry {
        Key key{};
        Value value{};
    };
    /// A layout is shared by the files of several communicators, each with a key of its own.
    static constexpr std::size_t entries_most = 8;

    /// In place of the oldest, or not at all where there is no memory for it.
    void keep(Entry const& made) const noexcept try {
        if (entries_.size() < entries_most)
            entries_.push_back(made);
        else
            entries_[next_++ % entries_most] = made;
    } catch (std::bad_alloc const&) {
    }

    mutable std::vector<Entry> entries_;
    mutable std::size_t next_ = 0;
    mutable std::mutex mutex_;
};

}  // namespace sluice
