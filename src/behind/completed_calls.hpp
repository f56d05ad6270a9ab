// Which collective writes a rank knows to be complete. It lies in the rank's journal, where the
// keepers of other ranks read it: a rank may be killed when all ranks' bytes of a call are in the
// file and its journal still has its own. What other ranks have written there since is newer, so
// its keeper must leave these bytes out.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// A collective call of a file's handle, by numbers that are the same on all ranks.
struct NumberedCall {
    std::uint64_t opening = 0;  ///< Which of the handles that may be open at the same time.
    std::int64_t number = 0;    ///< Its writes count from 1; 0: no collective call.
};

/// A page of a journal, which it neither owns nor maps. Any thread and process may call it; those
/// who write and those who read agree on an order of all stores and loads.
class CompletedCalls {
public:
    static constexpr std::size_t bytes = 4096;
    explicit CompletedCalls(std::byte* page) noexcept;

    /// A place for the calls of a handle; none where all of them are taken.
    [[nodiscard]] std::optional<std::size_t> begin(std::uint64_t opening) noexcept;
    /// The handle is closed.
    void end(std::size_t place) noexcept;
    /// All ranks have agreed on the end of the call: no byte of it is to come. At most `most_ahead`
    /// calls of a handle are noted before an earlier one: those that were not by then never will
    /// be, and they count as noted.
    void note(std::size_t place, std::int64_t call) noexcept;
    [[nodiscard]] bool has(NumberedCall const& call) const noexcept;

    static constexpr std::int64_t most_ahead = 32;

private:
    struct Place {
        std::atomic<std::uint64_t> opening;  ///< And one; 0: free.
        /// The calls up to this number, and of those behind it a bit each.
        std::atomic<std::uint64_t> calls;
    };
    std::span<Place> places_;
};

}  // namespace sluice
