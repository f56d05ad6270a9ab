// These functions divide the span among aggregators, and the domain of an aggregator into windows.
// They compute with a few numbers, whatever the size of the file. They are pure; plan.hpp calls
// them.
#pragma once
#include "base/request.hpp"
#include "file/plan/weights.hpp"
#include "settings/hints.hpp"

#include <vector>

namespace sluice {

/// The part of a domain that one round moves: one stretch of the file, or several of equal length
/// and distance. In a collective buffer these parts lie one behind the other.
struct Window {
    Offset begin = 0, end = 0;  ///< Of the first part, of the last part.
    Bytes part_bytes = 0;       ///< Of each; the last one may be shorter.
    Bytes stride = 0;           ///< From the begin of one to that of the next, in the file.
    std::int64_t part_count = 1;

    constexpr Window() = default;
    constexpr Window(Span whole) noexcept
        : begin(whole.begin),
          end(whole.end),
          part_bytes(whole.bytes()) {}
    constexpr Window(Offset first, Bytes part, Bytes step, std::int64_t count, Offset limit)
        : begin(first),
          end(std::min(limit, first + (count - 1) * step + part)),
          part_bytes(part),
          stride(step),
          part_count(count) {}

    /// Where a part lies in the file.
    [[nodiscard]] constexpr Span part(std::int64_t i) const noexcept {
        Offset const at = begin + i * stride;
        return {at, std::min(at + part_bytes, end)};
    }
    /// Where a part begins in a collective buffer.
    [[nodiscard]] constexpr Bytes place(std::int64_t i) const noexcept { return i * part_bytes; }
    [[nodiscard]] constexpr Bytes bytes() const noexcept {
        return place(part_count - 1) + part(part_count - 1).bytes();
    }
    bool operator==(Window const&) const = default;
};

/// Bytes of the request that lie in the window. Needs an ascending view.
[[nodiscard]] Bytes bytes_in(Request const& request, Window const& window) noexcept;

/// How a domain is cut into windows.
struct Cutting {
    Bytes window_bytes = 0;  ///< At most so many bytes each.
    Bytes stripe_bytes = 0;  ///< Cyclic domains are stripes; 0: a domain is one stretch.
    Bytes row_bytes = 0;     ///< From one stripe of an aggregator to its next.

    [[nodiscard]] std::int64_t round_count(Span domain) const noexcept;
    /// As many whole stripes as fit, or a part of one.
    [[nodiscard]] Window window(Span domain, std::int64_t round) const noexcept;

private:
    [[nodiscard]] std::int64_t stripes_a_window() const noexcept;
    [[nodiscard]] std::int64_t windows_a_stripe() const noexcept;
};

/// Even shares, borders at multiples of `unit`. At most `count` domains, none of them empty.
[[nodiscard]] std::vector<Span> even_domains(Span span, std::int64_t count, Bytes unit);

/// Stripe s of the file belongs to domain s mod `count`; a domain goes from the begin of its first
/// stripe to the end of its last. `count` domains; those without a stripe are empty.
[[nodiscard]] std::vector<Span> cyclic_domains(Span span, std::int64_t count, Bytes stripe_bytes);

/// Shares of about equal weight, borders at multiples of `unit`. At most `count` domains, none of
/// them empty.
[[nodiscard]] std::vector<Span> balanced_domains(Span span, Weights const& weights,
                                                 std::int64_t count, Bytes unit);

/// The most aggregators, but no more than `wanted`, that share out whole servers or share a server:
/// a multiple or a divisor of the number of servers (0: not known).
[[nodiscard]] std::int64_t cyclic_count(std::int64_t wanted, std::int64_t server_count) noexcept;

}  // namespace sluice
