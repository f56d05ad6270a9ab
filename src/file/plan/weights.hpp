// Weights say where in the span the wanted bytes lie: a record of fixed size that is added up over
// all ranks. domains.hpp needs it where domains are to hold equal bytes. Pure.
#pragma once
#include "base/request.hpp"

#include <array>

namespace sluice {

/// Bytes wanted in each of 64 equal shares of a span. Trivially copyable: it travels as bytes.
struct Weights {
    static constexpr std::size_t share_count = 64;
    std::array<Bytes, share_count> bytes{};
    Bytes lost = 0;  ///< Messages that did not come: then the bytes tell too little.

    /// As if all shares had the same bytes.
    [[nodiscard]] static Weights even() noexcept;
    /// As if they lay as close together as they can: `density` is bytes wanted / bytes of the span.
    [[nodiscard]] static Weights crowded(double density) noexcept;

    Weights& operator+=(Weights const& other) noexcept;
    Weights& operator-=(Weights const& other) noexcept;
    bool operator==(Weights const&) const = default;
};

/// What one rank wants of each share. 65 searches in the view.
[[nodiscard]] Weights weigh(Request const& request, Span span) noexcept;

/// The span is cut into so many parts of equal length: the bytes of the fullest one, as a multiple
/// of an equal share of all bytes. Inside of a share of Weights bytes are taken to be spread
/// evenly. At least 1, at most the number of parts; 1 where nothing is wanted.
[[nodiscard]] double fullest_part(Weights const& weights, double parts) noexcept;

/// The offset before which about k/count of the weight lies: exact at the borders of shares, and
/// between them as if the bytes of a share were spread evenly.
[[nodiscard]] Offset border_of(Weights const& weights, Span span, std::int64_t k,
                               std::int64_t count) noexcept;

}  // namespace sluice
