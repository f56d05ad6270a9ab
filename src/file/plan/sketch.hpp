// A Sketch tells how many contiguous stretches of the file several ranks want together, without a
// list of their pieces. Each rank adds +1 where a piece begins and -1 where one ends to a few
// counters, which a hash of the offset chooses and signs. Where one rank's piece ends and another's
// begins both vanish. So the sum over all ranks holds the borders of their common stretches only,
// and its squares add up to about their number (Alon, Matias, Szegedy 1996; Charikar, Chen,
// Farach-Colton 2002). The exchange of summaries adds the sketches of a node's ranks, and plan.hpp
// asks whether nodes can work by themselves.
#pragma once
#include "base/request.hpp"

#include <array>
#include <optional>

namespace sluice {

/// Trivially copyable: it travels as bytes.
struct Sketch {
    static constexpr std::size_t counter_count = 64;
    std::array<std::int32_t, counter_count> counters{};

    Sketch& operator+=(Sketch const& other) noexcept;
    bool operator==(Sketch const&) const = default;

    void add(Offset offset, std::int32_t times) noexcept;
    /// A piece of the file, which others may touch.
    void add(Span piece) noexcept;
    /// About: without bias, and off by a sixth of the number (one standard deviation).
    [[nodiscard]] std::int64_t stretches() const noexcept;
};

/// Of the pieces of a request; nothing where they are too many to be looked at one by one.
[[nodiscard]] std::optional<Sketch> sketch(Request const& request) noexcept;

}  // namespace sluice
