// What stands in front of the bytes of each message over a fabric.
#pragma once
#include "transport/messages.hpp"

namespace sluice {

enum class FabricKind : std::uint8_t {
    whole,     ///< A message with all of its bytes.
    head,      ///< A message of which `bytes` are written to their places by `writes` writes.
    ready,     ///< Back: a receive has room for `bytes` at `address`; the sender is to write there.
    length,    ///< How many bytes the writes for a receive have together, and how many they are.
    matched,   ///< Back: the receive of a synchronous message has begun.
    waiting,   ///< A message that is too long to go whole has waited for its `ready` in vain.
    refused,   ///< Back: there is no memory for the message; its sender is done with it.
    too_long,  ///< The message is longer than the memory that its receive has shown.
    ended,     ///< The sender takes part in no more messages of the context.
    credits,   ///< Nothing but the credits.
};

/// Numbers that wrap.
[[nodiscard]] constexpr bool is_before(std::uint32_t number, std::uint32_t other) noexcept {
    return static_cast<std::int32_t>(number - other) < 0;
}

/// The credits say, in each message, how many messages the sender has taken from the receiver: so
/// many of the receiver's slots at the sender are free again.
struct FabricHeader {
    std::uint64_t key = 0;      ///< The receiver's: nobody outside of the job knows it.
    std::uint64_t from = 0;     ///< The sender's name.
    MatchKey message{};         ///< Its number is counted by context and tag; wraps.
    std::uint32_t credits = 0;  ///< In all; wraps.
    FabricKind kind = FabricKind::whole;
    std::uint8_t synchronous = 0;  ///< 0: not; a bool would have no meaning with another byte.
    std::uint16_t unused = 0;
    std::uint64_t bytes = 0;
    std::uint64_t address = 0, key_of_memory = 0;
    std::uint32_t receive = 0;  ///< Of `ready`: the receiver's number for the receive.
    std::uint32_t writes = 0;   ///< Of `length` and `head`.
};
static_assert(sizeof(FabricHeader) == 72);

/// The body of a `ready`: where parts go; zeros where its receive takes none.
struct FabricTarget {
    std::uint64_t address = 0, key_of_memory = 0;
};

/// The data that comes with a write: the number of the receive and, in 64 bits, how many bytes all
/// writes for it have; 0: a message tells.
struct FabricWriteData {
    static constexpr unsigned receive_bits = 24;
    static constexpr std::uint32_t receives_most = std::uint32_t{1} << receive_bits;
    std::uint32_t receive = 0;
    std::uint64_t bytes = 0;

    [[nodiscard]] static std::uint64_t pack(FabricWriteData const& what, unsigned bits) noexcept {
        return bits < 64 ? what.receive : what.receive | what.bytes << receive_bits;
    }
    [[nodiscard]] static FabricWriteData unpack(std::uint64_t data, unsigned bits) noexcept {
        auto const receive = static_cast<std::uint32_t>(data % receives_most);
        return {receive, bits < 64 ? 0 : data >> receive_bits};
    }
};

}  // namespace sluice
