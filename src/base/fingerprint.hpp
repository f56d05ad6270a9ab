// The proof of coverage: do the pieces of all ranks cover [S, E) exactly once everywhere? They do
// if and only if their starts and E are, as multisets, their ends and S. So no lists are compared,
// but the values of two polynomials at one point r: the sum over all pieces of r^start - r^end
// against r^S - r^E. Two words a rank, which are added in any order. Pure. Next stage: the exchange
// of summaries adds the fingerprints of all ranks; where they prove a span, nobody marks or sends a
// coverage.
//
// Sure: what covers exactly is always proved; it needs no luck. A false proof does: r must be a
// root of the difference of the two polynomials, which is not zero (its coefficients are counts of
// pieces, far below p) and whose degree is at most that of the span's bytes. A polynomial of
// degree d has at most d roots in a field (Schwartz 1980, Zippel 1979, for one variable), so for r
// drawn from N values the probability is at most d / N, for any pattern that does not depend on r.
//
// So r is drawn from the system's random numbers when the ranks of a communicator are set up, and
// nobody else learns it (FingerprintKey). Who knew it could find a pattern that is proved falsely,
// by lattice reduction, in seconds: a constant in the source would be no defence against offsets
// that come out of a file. A program that reads r out of its own memory could as well write the
// bytes itself: against it the proof is not meant.
//
// Here r is in the field of p^2 elements (complex numbers modulo p = 2^61 - 1), drawn evenly among
// its generators, N = 0.176 p^2 of them. A file of 2^50 bytes is proved falsely with probability
// 2^-69; one of 1 TiB with 2^-79. Two values of r modulo p take as many words and come to
// (2^50 / p)^2 = 2^-22. r being a generator, r^a = r^b only for a = b: a single piece at a wrong
// place, whose difference is r^a (1 - r^length) (1 - r^distance), is never proved.
//
// Beside it the number of bytes must be that of the span (is_covered() in file/plan/summary.hpp):
// that costs nothing, and holds with certainty.
#pragma once
#include "base/extent.hpp"
#include "base/fingerprint_key.hpp"

#include <array>
#include <optional>

namespace sluice {

class Layout;
struct Request;

/// Real and imaginary part, each below p. Bytes that nobody wants have the default one. Only those
/// of one key can be added and compared.
struct Fingerprint {
    std::array<std::uint64_t, 2> words{};
    bool operator==(Fingerprint const&) const = default;
};

/// Of the pieces of both.
[[nodiscard]] Fingerprint operator+(Fingerprint a, Fingerprint b) noexcept;

/// Of the bytes of a span as one piece, or as any pieces that cover it exactly once.
[[nodiscard]] Fingerprint fingerprint(Span span, FingerprintKey const& key) noexcept;

/// Of all pieces of a run; O(log count).
[[nodiscard]] Fingerprint fingerprint(Run const& run, FingerprintKey const& key) noexcept;

/// Of one tile of a layout; 4 to 12 ns for a piece near the one before, about 80 ns for a run of
/// 1,000 pieces. Kept by the layout, for the keys that came last.
[[nodiscard]] Fingerprint fingerprint(Layout const& layout, FingerprintKey const& key) noexcept;

/// Of the bytes of a request at their places in the file, overlaps counted as often as they are.
/// O(1) but for the layout's own where the view is contiguous or the request is whole tiles.
/// Tiles at the ends that are wanted in part are walked; nothing where they are of many runs: then
/// it is not known, and the caller must prove coverage in another way.
[[nodiscard]] std::optional<Fingerprint> fingerprint(Request const& request,
                                                     FingerprintKey const& key) noexcept;

/// Of the same pieces `distance` bytes further on, which may be negative.
[[nodiscard]] Fingerprint shifted(Fingerprint pieces, Offset distance,
                                  FingerprintKey const& key) noexcept;

/// Of `times` copies, each `step` bytes after the one before; O(log times).
[[nodiscard]] Fingerprint repeated(Fingerprint pieces, std::int64_t times, Offset step,
                                   FingerprintKey const& key) noexcept;

}  // namespace sluice
