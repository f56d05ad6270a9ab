// This file remembers what the exchange of summaries decided for short requests. A rank whose last
// request of the same length went independent sends the next one straight to the file, without
// waiting for the other ranks' summaries first.
#pragma once
#include "file/plan/summary.hpp"

#include <array>
#include <atomic>

namespace sluice {

/// Of one operation queue on one rank: each rank may send its bytes straight without the others'
/// consent. Any thread may ask, one notes.
class Answers {
public:
    /// As circumstances change, some operations ask again.
    [[nodiscard]] bool known_to_be_independent(Request const& request,
                                               std::int64_t operation) const noexcept {
        if (request.bytes == 0 || operation % asked_again == 0) return false;
        Bytes const known =
            independent_bytes_[index_of(request.direction)].load(std::memory_order_relaxed);
        return request.bytes == known && piece_count(request) == 1;
    }
    void note(Request const& request, Strategy answer) noexcept {
        if (request.bytes == 0 || piece_count(request) > 1) return;
        bool const alone = answer == Strategy::independent;
        independent_bytes_[index_of(request.direction)].store(alone ? request.bytes : 0,
                                                              std::memory_order_relaxed);
    }
    void forget() noexcept {
        for (auto& length : independent_bytes_) length = 0;
    }

private:
    static constexpr std::int64_t asked_again = 16;

    std::array<std::atomic<Bytes>, 2> independent_bytes_{};  ///< Length of such requests; 0: none.
};

}  // namespace sluice
