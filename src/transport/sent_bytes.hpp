// SentBytes counts what was sent to a peer and is not known to have arrived: a connection
// keeps the order, so a message that the peer has credited came after all that was sent before it.
#pragma once
#include <cstdint>

namespace sluice {

class SentBytes {
public:
    /// The `number`th message that takes a slot.
    void add_message(std::uint32_t number, std::uint64_t bytes) noexcept {
        later_ += bytes;
        next_mark_ = number;
    }
    /// A write, or a message that is never credited: the next message's credit is for it as well.
    void add_uncounted(std::uint32_t messages_before, std::uint64_t bytes) noexcept {
        later_ += bytes;
        next_mark_ = messages_before + 1;
    }
    void credit(std::uint32_t messages) noexcept {
        for (int generations = 2; generations > 0 && reached(messages); --generations) {
            earlier_ = later_;
            later_ = 0;
            mark_ = next_mark_;
        }
    }
    /// What may be under way.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return earlier_ + later_; }

private:
    [[nodiscard]] bool reached(std::uint32_t messages) const noexcept {
        return static_cast<std::int32_t>(messages - mark_) >= 0;
    }
    // Two generations are enough: nobody asks which of the bytes are under way.
    std::uint64_t earlier_ = 0;  ///< They arrived when `mark_` messages are credited.
    std::uint64_t later_ = 0;    ///< The same, with `next_mark_`.
    std::uint32_t mark_ = 0, next_mark_ = 0;
};

}  // namespace sluice
