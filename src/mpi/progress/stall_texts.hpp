// StallTexts remembers what the stall watchdog has told, so that a stall is told once, and again
// when something about it has changed. Pure.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace sluice {

class StallTexts {
public:
    /// Those of `now`, all that is stalled, which are not known from the time before.
    [[nodiscard]] std::vector<std::string> unknown(std::vector<std::string> now) {
        std::vector<std::string> fresh;
        for (auto const& text : now) {
            if (std::ranges::find(known_, text) == known_.end()) fresh.push_back(text);
        }
        known_ = std::move(now);
        return fresh;
    }

private:
    std::vector<std::string> known_;
};

}  // namespace sluice
