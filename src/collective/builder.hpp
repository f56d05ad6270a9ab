// A builder makes the schedule of one rank's part in a collective from a sequential program: sends,
// receives, copies and reductions in an order in which they would be right one after the other.
// What each op has to wait for follows from the memory that it touches, so algorithms say nothing
// about dependencies, and independent ops overlap. Pure.
#pragma once
#include "collective/algorithms.hpp"

#include <map>
#include <utility>

namespace sluice {

inline constexpr Place in_input{Memory::input, 0};
inline constexpr Place in_output{Memory::output, 0};

class CollectiveBuilder {
public:
    using Id = std::uint32_t;
    static constexpr Id nothing = ~Id{0};  ///< An op that was not needed.
    using Ids = std::vector<Id>;

    /// Each adds an op, unless there are no bytes, and returns its number. It waits for `after`, as
    /// for the earlier ops that wrote what it reads, or touched what it writes. The nth message of
    /// a rank to another one is the nth that this one receives from it.
    Id send(Rank to, Place from, Bytes bytes, Ids after = {});
    Id recv(Rank from, Place into, Bytes bytes, Ids after = {});
    Id copy(Place from, Place into, Bytes bytes, Ids after = {});
    /// What lies in `into` becomes `from` combined with it, in this order.
    Id reduce(Place from, Place into, Bytes bytes, Ids after = {});

    /// Messages without bytes: these do exist.
    Id signal(Rank to, Ids after);
    Id await_signal(Rank from, Ids after);

    /// Memory of the operation's own, not used for anything else.
    [[nodiscard]] Place scratch(Bytes bytes) noexcept;

    [[nodiscard]] CollectiveSchedule take() && { return std::move(made_); }

private:
    /// Bytes that were touched alike.
    struct Touched {
        Bytes end = 0;
        Id writer = nothing;
        Ids readers;  ///< Since it was written.
    };
    using Touches = std::map<Bytes, Touched>;

    /// The messages to a rank, or those from it, so far.
    struct Messages {
        std::int64_t count = 0;
        Ids last;  ///< The last one of each value, once values are used again.
    };

    Id add(Op const& op, Ids after);
    Id add_message(Op op, Ids after);
    Id finish(Op const& op, Ids after);
    /// Adds the ops that the next one has to wait for, to `after`.
    void read(Memory memory, Bytes at, Bytes bytes, Ids& after);
    void write(Memory memory, Bytes at, Bytes bytes, Ids& after);
    [[nodiscard]] Touches* touches_of(Memory memory) noexcept;
    [[nodiscard]] Id next_id() const noexcept { return static_cast<Id>(made_.schedule.ops.size()); }

    CollectiveSchedule made_;
    Touches output_, scratch_;  ///< Nobody writes the input.
    std::map<Rank, Messages> sent_, received_;
};

}  // namespace sluice
