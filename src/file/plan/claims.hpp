// A Claim says in which rounds of one aggregator a rank or a node takes part, and how many bytes
// one round may bring. It has 48 bytes in memory, whatever the pattern, and fewer in a message.
// Which bytes are wanted travels later, with each round, as a coverage. These functions are pure;
// schedule_round.hpp makes schedules of their results.
#pragma once
#include "base/bytes.hpp"
#include "file/plan/plan.hpp"

#include <optional>

namespace sluice {

/// Some rounds of one aggregator. In a long domain one bit stands for several rounds: then the
/// claim may contain rounds in which nothing is wanted. Trivially copyable: it lies in shared
/// memory.
struct Claim {
    static constexpr std::int64_t bit_count = 256;

    std::uint64_t bits[bit_count / 64]{};
    Bytes round_bytes = 0;     ///< Wanted in one round, at most.
    std::uint32_t scale = 1;   ///< Rounds that a bit stands for.
    std::uint32_t unused = 0;  ///< Keeps the record free of unnamed bytes.

    [[nodiscard]] bool contains(std::int64_t round) const noexcept {
        auto const bit = static_cast<std::uint64_t>(round) / scale;
        return bit < bit_count && (bits[bit / 64] >> bit % 64 & 1) != 0;
    }
    void add(std::int64_t bit) noexcept { bits[bit / 64] |= std::uint64_t{1} << bit % 64; }
    [[nodiscard]] bool empty() const noexcept;
    /// The first round, and the one behind the last, which may lie behind the domain's end.
    [[nodiscard]] std::int64_t first() const noexcept;
    [[nodiscard]] std::int64_t end() const noexcept;
    bool operator==(Claim const&) const = default;
};

/// What the rank at this place of its node claims of each aggregator: nothing of those that do not
/// serve it. At most Claim::bit_count searches of the view for each.
[[nodiscard]] std::vector<Claim> make_claims(Request const& request, Plan const& plan, Rank local);

/// Rounds of either; `round_bytes` of both together. Of the same aggregator.
[[nodiscard]] Claim join(Claim const& a, Claim const& b) noexcept;

/// Runs of rounds that are claimed, as numbers: 8 bytes or so where they are in a row.
void encode(Claim const& claim, ByteBuffer& to);
inline constexpr std::size_t encoded_claim_bytes_max = 24 + 2 * Claim::bit_count;

/// The next claim of a message; nothing where it is damaged. Moves `at` on.
[[nodiscard]] std::optional<Claim> decode_claim(std::span<std::byte const> from, std::size_t& at);

}  // namespace sluice
