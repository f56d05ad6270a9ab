// An application kernel's computation: carried out, or slept through, as if each rank had a core to
// spare for whoever moves its data.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "bench/measure/timing.hpp"
#include "study/collective/measuring.hpp"

namespace sluice::collectives {

class Computing {
public:
    /// What is computed, and of which tile or chunk.
    using Piece = std::pair<int, int>;

    /// From now on the length of each piece is noted.
    void take_notes() { state_ = State::noted; }
    /// From now on each piece is a sleep, as long as the median of what was noted of it.
    void fall_asleep() {
        for (auto& [piece, seconds] : seconds_)
            asleep_[piece] = Work::lasting(bench::summary_of(seconds).median, true);
        state_ = State::slept_through;
    }
    [[nodiscard]] bool asleep() const { return state_ == State::slept_through; }

    /// `part(i)` for so many parts, and `between()` after each.
    template <typename Part, typename Between>
    void run(Piece piece, int parts, Part const& part, Between const& between) {
        if (asleep()) return sleep(asleep_[piece], parts, between);
        double const begin = state_ == State::noted ? bench::now() : 0;
        for (int i = 0; i < parts; ++i) {
            part(i);
            between();
        }
        if (state_ == State::noted) seconds_[piece].push_back(bench::now() - begin);
    }

private:
    enum class State { carried_out, noted, slept_through };

    /// Not as many parts: a sleep ends a little late.
    template <typename Between>
    static void sleep(Work const& work, int parts, Between const& between) {
        constexpr int most = 4;
        int const naps = parts < most ? parts : most;
        for (int i = 0; i < naps; ++i) {
            work.part(std::uint64_t(naps));
            between();
        }
    }

    State state_ = State::carried_out;
    std::map<Piece, std::vector<double>> seconds_;
    std::map<Piece, Work> asleep_;
};

}  // namespace sluice::collectives
