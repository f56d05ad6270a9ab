// A Tracer is told what a rank did. Code that does not know where a trace goes, or that there is
// one, has a pointer to it, which is null where no trace is wanted.
#pragma once
#include "events/event.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

class Tracer {
public:
    virtual ~Tracer() = default;
    /// False while the program does not want it: what begins then is left out.
    [[nodiscard]] virtual bool records() const noexcept = 0;
    /// Nanoseconds of the process's monotonic clock.
    [[nodiscard]] virtual std::int64_t now() noexcept = 0;
    /// By the thread in whose row the event belongs. Never blocks.
    virtual void add(TraceEvent const& event) noexcept = 0;
};

/// One open file in a trace.
struct FileTrace {
    Tracer* tracer = nullptr;
    std::uint16_t file = 0;           ///< Among the names of this rank.
    std::uint64_t key = 0;            ///< The same on all ranks of the file, and of no other file.
    std::vector<std::int32_t> world;  ///< By rank of the file: the rank in the world.

    [[nodiscard]] std::int32_t world_rank(std::int32_t rank) const noexcept {
        auto const place = static_cast<std::size_t>(rank);
        return rank >= 0 && place < world.size() ? world[place] : -1;
    }
    /// Names a message on both of its ends. `what` tells the messages of a file apart that go from
    /// one rank to the other.
    [[nodiscard]] std::uint64_t flow(std::int32_t from, std::int32_t to,
                                     std::uint64_t what) const noexcept {
        std::uint64_t mixed = key;
        for (std::uint64_t const word :
             {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), what}) {
            mixed = (mixed ^ word) * 0x9e3779b97f4a7c15U;
            mixed ^= mixed >> 29U;
        }
        return mixed >> 12U | 1U;  // Programs that read JSON numbers as doubles keep 53 bits.
    }
};

}  // namespace sluice
