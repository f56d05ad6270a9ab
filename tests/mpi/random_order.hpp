// Which ranks must wait for others before they go on. A program is ordered where two accesses of
// different ranks to the same bytes have a meeting of both ranks between them, or a message from
// the first to the second one; a rank's own accesses follow each other, whatever handles they use.
#pragma once
#include "random_plan.hpp"

#include <set>

namespace random_test {

/// What a rank does to a file, as far as other ranks can notice.
struct Touch {
    model::Blocks blocks;
    bool writes = false;
    bool end = false;       ///< The result depends on where the file ends.
    bool loose = false;     ///< It may still be under way when the call has returned.
    std::int64_t size = 0;  ///< Of the file before; what set_size cuts off begins there.

    bool behind_end() const { return model::end_of(blocks) > size; }
};

/// Why ranks may not go on yet.
struct Clash {
    bool any = false;
    /// A rank, and another one that it must follow. None: they must complete what they started.
    std::set<std::pair<int, int>> pairs;

    std::set<int> ranks() const {
        std::set<int> result;
        for (auto const& [rank, other] : pairs) result.insert({rank, other});
        return result;
    }
};

class Order {
public:
    explicit Order(int ranks)
        : ranks_(ranks),
          pairs_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {}

    void find(int rank, Touch const& touch, Clash& clash) {
        for (int other = 0; other < ranks_; ++other) {
            if (!clashes(pair(rank, other), touch)) continue;
            clash.any = true;
            if (other != rank) clash.pairs.insert({rank, other});
        }
    }
    void note(int rank, Touch const& touch) {
        for (int other = 0; other < ranks_; ++other) {
            if (other != rank || touch.loose) note(pair(other, rank), touch);
        }
    }
    /// All ranks have completed what they had started.
    void complete() {
        for (int rank = 0; rank < ranks_; ++rank) pair(rank, rank) = {};
    }
    /// A rank goes on where another one is.
    void follow(int rank, int other) { pair(rank, other) = {}; }
    void meet(std::vector<int> const& ranks) {
        for (int const rank : ranks) {
            for (int const other : ranks) pair(rank, other) = {};
        }
    }

private:
    static constexpr std::int64_t never = INT64_MAX;

    /// What one rank did since another one last met it.
    struct Pair {
        ByteSet written, read;
        std::int64_t grown_from = never;  ///< The least size of the file before it grew.
        std::int64_t seen_end = never;  ///< The least size of the file where it looked at the end.
    };

    Pair& pair(int rank, int other) {
        return pairs_[static_cast<std::size_t>(rank * ranks_ + other)];
    }
    static bool clashes(Pair const& pair, Touch const& touch) {
        bool const grew = pair.grown_from != never;
        if (grew && touch.end) return true;
        if (grew && !touch.writes && model::end_of(touch.blocks) > pair.grown_from) return true;
        // A third rank's write may have moved the end, but only once it is made.
        bool const looked = pair.seen_end != never;
        bool const moves_end = touch.behind_end() || model::end_of(touch.blocks) > pair.seen_end;
        if (touch.writes && looked && moves_end) return true;
        return pair.written.touches(touch.blocks) ||
               (touch.writes && pair.read.touches(touch.blocks));
    }
    static void note(Pair& pair, Touch const& touch) {
        (touch.writes ? pair.written : pair.read).add(touch.blocks);
        if (touch.writes && touch.behind_end()) {
            pair.grown_from = std::min(pair.grown_from, touch.size);
        }
        if (!touch.writes && (touch.end || touch.behind_end())) {
            pair.seen_end = std::min(pair.seen_end, touch.size);
        }
    }

    int ranks_;
    std::vector<Pair> pairs_;  ///< Of each rank, and what each other one did.
};

}  // namespace random_test
