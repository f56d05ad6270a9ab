// Powers and geometric sums in the field of p^2 elements. Pure.
#include "core/fingerprint.hpp"

#include "core/request.hpp"

#include <bit>

namespace sluice {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;

/// A number below 2^124, modulo p, but not always the least: at most p + 7.
constexpr std::uint64_t fold(Wide wide) noexcept {
    std::uint64_t const once =
        (static_cast<std::uint64_t>(wide) & p) + static_cast<std::uint64_t>(wide >> 61);
    return (once & p) + (once >> 61);
}

constexpr std::uint64_t fold(std::uint64_t value) noexcept { return (value & p) + (value >> 61); }

constexpr std::uint64_t least(std::uint64_t value) noexcept {
    return value >= p ? value - p : value;
}

/// real + imaginary * i, with i * i = -1. Parts are at most p + 7.
struct Element {
    std::uint64_t real = 0, imaginary = 0;
};

constexpr Element one{1, 0};

constexpr Element operator*(Element a, Element b) noexcept {
    return {fold(Wide{a.real} * b.real + Wide{a.imaginary} * (2 * p - b.imaginary)),
            fold(Wide{a.real} * b.imaginary + Wide{a.imaginary} * b.real)};
}

constexpr Element operator+(Element a, Element b) noexcept {
    return {fold(a.real + b.real), fold(a.imaginary + b.imaginary)};
}

constexpr Element operator-(Element a, Element b) noexcept {
    return {fold(a.real + (2 * p - b.real)), fold(a.imaginary + (2 * p - b.imaginary))};
}

Fingerprint result(Element e) noexcept { return {{least(e.real), least(e.imaginary)}}; }
Element element(Fingerprint f) noexcept { return {f.words[0], f.words[1]}; }

constexpr Element r{0x18812d77785ec1cc, 0x11b7a7ed483f8f93};

/// Bits of an exponent that one table serves: most gaps need one or two, and those tables stay in
/// the processor's cache.
constexpr int digit_bits = 10;
constexpr std::uint64_t base = std::uint64_t{1} << digit_bits;

/// powers[level][digit] is r^(digit * base^level).
using Powers = std::array<std::array<Element, base>, (63 + digit_bits) / digit_bits>;

constexpr Powers make_powers() noexcept {
    Powers powers{};
    Element step = r;
    for (auto& level : powers) {
        Element power = one;
        for (Element& entry : level) {
            entry = power;
            power = power * step;
        }
        step = power;
    }
    return powers;
}

constexpr Powers powers = make_powers();

/// r^exponent: one factor for each digit of the exponent.
Element power(std::uint64_t exponent) noexcept {
    Element product = powers[0][exponent % base];
    exponent /= base;
    for (std::size_t level = 1; exponent != 0; ++level, exponent /= base) {
        product = product * powers[level][exponent % base];
    }
    return product;
}

/// 1 / e = conjugate(e) / norm(e), and the norm is a plain number modulo p.
Element inverse(Element e) noexcept {
    std::uint64_t const norm = fold(Wide{e.real} * e.real + Wide{e.imaginary} * e.imaginary);
    std::uint64_t inverse_of_norm = 1;  // norm^(p - 2); all bits of p - 2 are set but the second.
    for (int bit = 60; bit >= 0; --bit) {
        inverse_of_norm = fold(Wide{inverse_of_norm} * inverse_of_norm);
        if (bit != 1) inverse_of_norm = fold(Wide{inverse_of_norm} * norm);
    }
    return {fold(Wide{e.real} * inverse_of_norm),
            fold(Wide{2 * p - e.imaginary} * inverse_of_norm)};
}

Element power(Offset exponent) noexcept {
    if (exponent >= 0) return power(static_cast<std::uint64_t>(exponent));
    return inverse(power(std::uint64_t{0} - static_cast<std::uint64_t>(exponent)));
}

/// 1 + ratio + ... + ratio^(terms - 1), by doubling from the top bit of `terms` down. Dividing by
/// ratio - 1 costs as much as 100 doublings, and fails for the ratio 1.
Element geometric(Element ratio, std::int64_t terms) noexcept {
    if (terms <= 0) return {};
    auto const bits = static_cast<std::uint64_t>(terms);
    Element sum = one, next = ratio;  // Of the terms so far; the term that follows them.
    for (int bit = 62 - std::countl_zero(bits); bit >= 0; --bit) {
        sum = sum + sum * next;
        next = next * next;
        if ((bits >> bit & 1) == 0) continue;
        sum = sum + next;
        next = next * ratio;
    }
    return sum;
}

/// Adds up runs. From one to the next it multiplies by the power of their distance, which is
/// mostly short and at hand: an offset costs more. Pieces that follow each other are mostly of one
/// length: their begins are added up, and made pieces of together.
class Sum {
public:
    void add(Run const& run) noexcept {
        auto const distance = static_cast<std::uint64_t>(run.offset - offset_);
        bool const near = distance < limit;  // Backwards is far.
        at_ = near ? at_ * power(distance) : power(run.offset);
        offset_ = run.offset;
        if (run.length != length_) close(run.length);
        Element const all = run.count == 1 ? at_ : at_ * geometric(power(run.stride), run.count);
        begins_ = begins_ + all;
    }

    Element sum() noexcept {
        close(0);
        return sum_;
    }

private:
    /// The next ones are of another length.
    void close(Bytes length) noexcept {
        sum_ = sum_ + begins_ * (one - power(length_));
        begins_ = {};
        length_ = length;
    }

    static constexpr std::uint64_t limit = std::uint64_t{1} << 32;

    Element sum_;
    Element begins_;  ///< Of the pieces of length_ that are not in the sum yet.
    Bytes length_ = 0;
    Element at_ = one;  ///< r^offset_.
    Offset offset_ = 0;
};

Element sum_of(Layout const& layout) noexcept {
    Sum sum;
    layout.for_each_run([&](Run const& run) { sum.add(run); });
    return sum.sum();
}

constexpr std::int64_t runs_max = 1024;  ///< What is walked at the ends of a request: 10 to 80 us.

/// Of the positions [begin, end) of a layout, run by run, unless there are too many.
std::optional<Element> walk(Layout const& layout, Bytes begin, Bytes end) noexcept {
    if (begin >= end) return Element{};
    Sum sum;
    Cursor cursor(layout, begin);
    for (std::int64_t runs = 0; runs < runs_max;) {
        Pieces const ahead = cursor.pieces(end - begin);
        if (ahead.is_run())
            sum.add({ahead.offset, ahead.length, ahead.stride, ahead.count});
        else
            ahead.for_each([&](Offset at, Bytes length) { sum.add({at, length, 0, 1}); });
        runs += ahead.is_run() ? 1 : ahead.count;
        begin += ahead.bytes;
        if (begin == end) return sum.sum();
        cursor.advance(ahead);
    }
    return std::nullopt;
}

}  // namespace

Fingerprint operator+(Fingerprint a, Fingerprint b) noexcept {
    return result(element(a) + element(b));
}

Fingerprint fingerprint(Span span) noexcept {
    if (span.empty()) return {};
    return result(power(span.begin) - power(span.end));
}

Fingerprint fingerprint(Run const& run) noexcept {
    Sum sum;
    sum.add(run);
    return result(sum.sum());
}

Fingerprint fingerprint(Layout const& layout) noexcept {
    return layout.fingerprint().get([&] { return result(sum_of(layout)); });
}

std::optional<Fingerprint> fingerprint(Request const& request) noexcept {
    if (request.bytes <= 0) return Fingerprint{};
    Layout const& layout = *request.view.filetype;
    Offset const displacement = request.view.displacement;
    if (layout.is_contiguous()) {
        Offset const begin = displacement + layout.offset_at(request.position);
        return fingerprint(Span{begin, begin + request.bytes});
    }
    Bytes const tile_bytes = layout.tile_bytes();
    Bytes const begin = request.position, end = begin + request.bytes;
    std::int64_t const first = (begin + tile_bytes - 1) / tile_bytes, last = end / tile_bytes;
    if (first >= last) {  // No whole tile.
        auto const all = walk(layout, begin, end);
        if (!all) return std::nullopt;
        return shifted(result(*all), displacement);
    }
    auto const head = walk(layout, begin, first * tile_bytes);
    auto const tail = walk(layout, last * tile_bytes, end);
    if (!head || !tail) return std::nullopt;
    Element const tiles = element(fingerprint(layout)) *
                          geometric(power(layout.tile_extent()), last - first) *
                          power(first * layout.tile_extent());
    return shifted(result(*head + tiles + *tail), displacement);
}

Fingerprint shifted(Fingerprint pieces, Offset distance) noexcept {
    return result(element(pieces) * power(distance));
}

Fingerprint repeated(Fingerprint pieces, std::int64_t times, Offset step) noexcept {
    return result(element(pieces) * geometric(power(step), times));
}

}  // namespace sluice
