// A ReadSequence tells from the reads that a rank has made of a file which reads it will make next.
// Programs read in loops: one variable step by step, or several variables of each step. So a read
// repeats the one that was made some reads before it, its period, and moves on by the same distance
// each time. Pure. Next stage: mpi/file/read_ahead.hpp, where all ranks compare what they foretell.
#pragma once
#include "base/request.hpp"

#include <array>
#include <deque>
#include <optional>

namespace sluice {

class ReadSequence {
public:
    /// The longest loop that is recognised, in reads.
    static constexpr int most_period = 8;

    /// The rank's next read. Its memory is not looked at: what comes back is for contiguous memory.
    void add(Request const& request);
    /// The read that comes `ahead` >= 1 reads after the last one, if some period is known.
    [[nodiscard]] std::optional<Request> next(int ahead) const;
    /// Whether the last read is what the reads before it have foretold.
    [[nodiscard]] bool was_foretold() const noexcept { return best().right > 0; }
    /// Whether only one read was made yet: nothing is foretold, and nothing speaks against a try.
    [[nodiscard]] bool has_begun() const noexcept { return made_.size() == 1; }
    [[nodiscard]] Request const& last() const noexcept { return made_.back().request; }

private:
    using Distances = std::array<std::optional<Offset>, most_period + 1>;
    struct Made {
        Request request;
        Distances from;  ///< From the read that was made so many reads before, if it is alike.
    };
    struct Best {
        int period = 0;  ///< 0: none.
        int right = 0;   ///< How many reads in a row it has foretold.
    };
    [[nodiscard]] Best best() const noexcept;
    [[nodiscard]] Made const& before(int reads) const noexcept;

    std::deque<Made> made_;  ///< As many as the longest period needs.
    std::array<int, most_period + 1> right_{};
};

/// The same request, elsewhere in the file.
[[nodiscard]] Request moved(Request request, Offset distance);

}  // namespace sluice
