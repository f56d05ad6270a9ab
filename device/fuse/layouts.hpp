// Layouts of a mount's files, as Lustre keeps and tells them: over how many servers a file is
// spread. For tests of who asks for them: the device behind the files stays one. Thread-safe.
#pragma once
#include "base/striping.hpp"
#include "device/fuse/store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>

namespace sluice::device {

class Layouts {
public:
    /// `servers`: no file has more. 0: the mount knows no layouts.
    explicit Layouts(std::int32_t servers) : servers_(servers) {}

    [[nodiscard]] bool are_known() const noexcept { return servers_ > 0; }
    /// Of a file that is opened: one of one server, if it has none yet.
    void open(Inode inode) {
        std::scoped_lock const lock(mutex_);
        if (are_known()) all_.try_emplace(inode, Striping{default_bytes, 1});
    }
    /// False: that is none. A file that has one keeps it, and the asker is not told.
    bool ask(Inode inode, std::span<std::byte const> layout) {
        auto const wanted = parse_lustre_request(layout);
        if (!wanted || wanted->stripe_bytes % lustre_stripe_multiple != 0) return false;
        std::scoped_lock const lock(mutex_);
        all_.try_emplace(inode,
                         Striping{wanted->stripe_bytes > 0 ? wanted->stripe_bytes : default_bytes,
                                  std::clamp(wanted->stripe_count, 1, servers_)});
        return true;
    }
    /// Empty: none.
    [[nodiscard]] std::vector<std::byte> of(Inode inode) const {
        std::scoped_lock const lock(mutex_);
        auto const found = all_.find(inode);
        if (found == all_.end()) return {};
        auto layout = lustre_layout(found->second);
        layout[30] = layout[31] = std::byte{0};  // The first server is known.
        return layout;
    }

private:
    static constexpr Bytes default_bytes = Bytes{1} << 20;
    std::int32_t const servers_;
    mutable std::mutex mutex_;
    std::map<Inode, Striping> all_;
};

}  // namespace sluice::device
