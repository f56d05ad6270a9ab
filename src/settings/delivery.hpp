// A Delivery says in which order an aggregator takes the messages of an all-to-many exchange, how
// many it takes at once, and which ranks send them. These are the kernels of "Improving All-to-Many
// Personalized Communication in Two-Phase I/O" (Kang et al., 2020); file/plan/delivery.hpp computes
// their orders. A hint names them by words.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// The order of an aggregator's messages.
enum class Kernel : std::uint8_t {
    automatic,   ///< The library chooses.
    ascending,   ///< By rank: what ROMIO does.
    pairwise,    ///< Step i: with rank XOR i, as by MPI_Sendrecv: one message at a time, each way.
    spread_out,  ///< Step i: from rank + i.
    balanced,    ///< Spread-out over a list of ranks, from the paper's places of it.
    even,        ///< The same from places whose distances differ by one at most all along the list.
};

/// Who sends: each rank for itself, or the ranks of a node together (two-layer aggregation).
enum class Layers : std::uint8_t { automatic, one, two };

/// How many messages an aggregator takes at once.
struct Throttle {
    static constexpr std::int32_t automatic = -1, none = 0;
    static constexpr std::int32_t usual = 32;  ///< The paper's, and that of MPICH's all-to-all.

    std::int32_t messages = automatic;
    std::uint8_t batches = 0;  ///< A batch ends before the next begins; else a sliding window.
    std::uint8_t unused[3]{};  ///< Keeps the record free of unnamed bytes.
    bool operator==(Throttle const&) const = default;

    /// Messages that must have come before message number `n` (from 0) is asked for.
    [[nodiscard]] constexpr std::int64_t needed_before(std::int64_t n) const noexcept {
        if (messages <= 0) return 0;
        if (batches != 0) return n / messages * messages;
        return n < messages ? 0 : n - messages + 1;
    }
};

/// How metadata or data get to the aggregators.
struct Delivery {
    Kernel kernel = Kernel::automatic;
    Layers layers = Layers::automatic;
    std::uint8_t synchronous = 0;  ///< No send ends before its receive began (MPI_Issend).
    std::uint8_t unused = 0;       ///< Keeps the record free of unnamed bytes.
    /// The list of ranks that the kernels balanced and even go along: 0, `stride`, 2 `stride` ...,
    /// then 1, 1 + `stride` ...; with 0 one rank of each node in turn.
    std::int32_t stride = 0;
    Throttle throttle{};
    bool operator==(Delivery const&) const = default;
};

char const* describe(Kernel kernel) noexcept;
/// As a hint would say it: "two-layer,balanced,throttle:32".
[[nodiscard]] std::string describe(Delivery delivery);
/// "32,batches".
[[nodiscard]] std::string describe(Throttle throttle);

/// Words of describe(), in any order; nothing where they are not understood. What they do not say
/// is as it is in `before`.
[[nodiscard]] std::optional<Delivery> parse_delivery(std::string const& text, Delivery before = {});

}  // namespace sluice
