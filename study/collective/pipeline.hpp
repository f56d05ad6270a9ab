// Operations under way while their neighbours are computed.
#pragma once
#include <deque>
#include <functional>
#include <utility>

#include "study/collective/service.hpp"

namespace sluice::collectives {

/// What is done for each operation, in this order: `before` computes what `start` sends, `after`
/// what was received. So many are under way at a time, at most; `before` may use a slot again that
/// its operation shares with the one `outstanding + 1` before it.
struct Steps {
    int operations = 1;
    std::function<int(int operation)> needs;  ///< Its `before` wants that one's `after`; -1: none.
    std::function<void(int operation)> before;
    std::function<Request(int operation)> start;
    std::function<void(int operation)> after;
};

class Pipeline {
public:
    Pipeline(Service& service, int outstanding, bool tests)
        : service_(service),
          outstanding_(std::size_t(outstanding)),
          tests_(tests) {}

    void run(Steps const& steps) {
        for (int operation = 0; operation < steps.operations; ++operation) {
            int const needed = steps.needs(operation);
            while (!under_way_.empty() && under_way_.front().first <= needed)
                steps.after(wait_for_first());
            steps.before(operation);
            int const done = under_way_.size() == outstanding_ ? wait_for_first() : -1;
            under_way_.emplace_back(operation, steps.start(operation));
            if (done >= 0) steps.after(done);
        }
        while (!under_way_.empty()) steps.after(wait_for_first());
    }

    /// Between two pieces of computation.
    void breathe() {
        if (!tests_) return;
        for (auto& [operation, request] : under_way_) service_.test(request);
    }

private:
    int wait_for_first() {
        auto [operation, request] = under_way_.front();
        service_.wait(request);
        under_way_.pop_front();
        return operation;
    }

    Service& service_;
    std::size_t outstanding_;
    bool tests_;
    std::deque<std::pair<int, Request>> under_way_;
};

}  // namespace sluice::collectives
