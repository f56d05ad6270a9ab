// Operations under way while their neighbours are computed.
#pragma once
#include <deque>
#include <functional>
#include <utility>

#include "tools/collectives/service.hpp"

namespace sluice::collectives {

/// What is done with each tile, in this order: `before` computes what `start` sends, `after` what
/// was received. So many are under way at a time, at most; `before` may use a slot again that its
/// tile shares with the one `outstanding + 1` before it.
struct Steps {
    int tiles = 1;
    std::function<void(int tile)> before;
    std::function<Request(int tile)> start;
    std::function<void(int tile)> after;
};

class Pipeline {
public:
    Pipeline(Service& service, int outstanding, bool tests)
        : service_(service),
          outstanding_(std::size_t(outstanding)),
          tests_(tests) {}

    void run(Steps const& steps) {
        for (int tile = 0; tile < steps.tiles; ++tile) {
            steps.before(tile);
            int const done = under_way_.size() == outstanding_ ? wait_for_first() : -1;
            under_way_.emplace_back(tile, steps.start(tile));
            if (done >= 0) steps.after(done);
        }
        while (!under_way_.empty()) steps.after(wait_for_first());
    }

    /// Between two pieces of computation.
    void breathe() {
        if (!tests_) return;
        for (auto& [tile, request] : under_way_) service_.test(request);
    }

private:
    int wait_for_first() {
        auto [tile, request] = under_way_.front();
        service_.wait(request);
        under_way_.pop_front();
        return tile;
    }

    Service& service_;
    std::size_t outstanding_;
    bool tests_;
    std::deque<std::pair<int, Request>> under_way_;
};

}  // namespace sluice::collectives
