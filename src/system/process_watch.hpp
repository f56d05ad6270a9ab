// A ProcessWatch finds out that one of some processes of this node has ended, also if it was killed
// and nobody has collected it. It looks rarely, because a look costs system calls.
#pragma once
#include "system/peer_process.hpp"

#include <optional>
#include <vector>

namespace sluice {

class ProcessWatch {
public:
    ProcessWatch() = default;
    explicit ProcessWatch(std::vector<ProcessAddress> processes) noexcept
        : processes_(std::move(processes)) {}

    /// The index of one that has ended, the same one from then on; nothing while all run, as far as
    /// is known. Ask it while something is waited for; `now`: of a steady clock, in seconds.
    [[nodiscard]] std::optional<std::size_t> ended(double now) noexcept;

private:
    std::vector<ProcessAddress> processes_;
    std::optional<std::size_t> ended_;
    double looked_at_ = 0;  ///< 0: never.
};

}  // namespace sluice
