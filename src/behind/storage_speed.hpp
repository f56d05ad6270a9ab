// Whether a write is worth being delayed: not where storage takes bytes as fast as they are copied,
// as a page cache does, unless a core has nothing else to do.
#pragma once
#include "base/extent.hpp"

#include <atomic>

namespace sluice {

/// What may be known of a file before anything is written.
struct SpeedRules {
    bool always_slow = false;  ///< For tests: it pays to delay all writes.
    bool past_cache = false;   ///< No page cache takes the file's bytes.
    bool spare_cores = false;  ///< See has_spare_cores().
};

class StorageSpeed {
public:
    /// Of the file behind `fd`, which may be -1.
    StorageSpeed(int fd, SpeedRules rules) noexcept;

    /// Whether a write of so many bytes, of all ranks, keeps a slow device busy for long.
    [[nodiscard]] static bool is_long(Bytes bytes) noexcept;
    /// Whether a write of so many bytes, of all ranks, costs less time if it goes on behind.
    /// `busy`: delayed writes that are long are under way.
    [[nodiscard]] bool pays_to_delay(Bytes bytes, bool busy) const noexcept;
    /// What a write took, in seconds.
    void note(Bytes bytes, double seconds) noexcept;

private:
    SpeedRules rules_;
    std::atomic<bool> is_fast_[2]{};  ///< For short writes, and for long ones.
};

}  // namespace sluice
