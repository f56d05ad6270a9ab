// Powers and geometric sums in the field of p^2 elements. See fingerprint.hpp.
#include "base/fingerprint.hpp"

#include "base/request.hpp"

#include <bit>

namespace sluice {
namespace {

using namespace field;

Fingerprint result(Element e) noexcept { return {{least(e.real), least(e.imaginary)}}; }
Element element(Fingerprint f) noexcept { return {f.words[0], f.words[1]}; }

using Powers = FingerprintKey::Powers;
constexpr std::uint64_t base = FingerprintKey::base;

/// r^exponent: one factor for each digit of the exponent.
Element power(Powers const& powers, std::uint64_t exponent) noexcept {
    Element product = powers[0][exponent % base];
    exponent /= base;
    for (std::size_t level = 1; exponent != 0; ++level, exponent /= base) {
        product = product * powers[level][exponent % base];
    }
    return product;
}

Element power(Powers const& powers, Offset exponent) noexcept {
    if (exponent >= 0) return power(powers, static_cast<std::uint64_t>(exponent));
    return inverse(power(powers, std::uint64_t{0} - static_cast<std::uint64_t>(exponent)));
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
    explicit Sum(Powers const& powers) noexcept : powers_(powers) {}

    void add(Run const& run) noexcept {
        auto const distance = static_cast<std::uint64_t>(run.offset - offset_);
        bool const near = distance < limit;  // Backwards is far.
        at_ = near ? at_ * power(powers_, distance) : power(powers_, run.offset);
        offset_ = run.offset;
        if (run.length != length_) close(run.length);
        Element const all =
            run.count == 1 ? at_ : at_ * geometric(power(powers_, run.stride), run.count);
        begins_ = begins_ + all;
    }

    Element sum() noexcept {
        close(0);
        return sum_;
    }

private:
    /// The next ones are of another length.
    void close(Bytes length) noexcept {
        sum_ = sum_ + begins_ * (one - power(powers_, length_));
        begins_ = {};
        length_ = length;
    }

    static constexpr std::uint64_t limit = std::uint64_t{1} << 32;

    Powers const& powers_;
    Element sum_;
    Element begins_;  ///< Of the pieces of length_ that are not in the sum yet.
    Bytes length_ = 0;
    Element at_ = one;  ///< r^offset_.
    Offset offset_ = 0;
};

Element sum_of(Layout const& layout, Powers const& powers) noexcept {
    Sum sum(powers);
    layout.for_each_run([&](Run const& run) { sum.add(run); });
    return sum.sum();
}

constexpr std::int64_t runs_max = 1024;  ///< What is walked at the ends of a request: 10 to 80 us.

/// Of the positions [begin, end) of a layout, run by run, unless there are too many.
std::optional<Element> walk(Layout const& layout, Bytes begin, Bytes end,
                            Powers const& powers) noexcept {
    if (begin >= end) return Element{};
    Sum sum(powers);
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

Fingerprint fingerprint(Span span, FingerprintKey const& key) noexcept {
    if (span.empty()) return {};
    Powers const& powers = key.powers();
    return result(power(powers, span.begin) - power(powers, span.end));
}

Fingerprint fingerprint(Run const& run, FingerprintKey const& key) noexcept {
    Sum sum(key.powers());
    sum.add(run);
    return result(sum.sum());
}

Fingerprint fingerprint(Layout const& layout, FingerprintKey const& key) noexcept {
    return layout.fingerprints().get(key.point(),
                                     [&] { return result(sum_of(layout, key.powers())); });
}

std::optional<Fingerprint> fingerprint(Request const& request, FingerprintKey const& key) noexcept {
    if (request.bytes <= 0) return Fingerprint{};
    Layout const& layout = *request.view.filetype;
    Offset const displacement = request.view.displacement;
    if (layout.is_contiguous()) {
        Offset const begin = displacement + layout.offset_at(request.position);
        return fingerprint(Span{begin, begin + request.bytes}, key);
    }
    Powers const& powers = key.powers();
    Bytes const tile_bytes = layout.tile_bytes();
    Bytes const begin = request.position, end = begin + request.bytes;
    std::int64_t const first = (begin + tile_bytes - 1) / tile_bytes, last = end / tile_bytes;
    if (first >= last) {  // No whole tile.
        auto const all = walk(layout, begin, end, powers);
        if (!all) return std::nullopt;
        return shifted(result(*all), displacement, key);
    }
    auto const head = walk(layout, begin, first * tile_bytes, powers);
    auto const tail = walk(layout, last * tile_bytes, end, powers);
    if (!head || !tail) return std::nullopt;
    Element const tiles = element(fingerprint(layout, key)) *
                          geometric(power(powers, layout.tile_extent()), last - first) *
                          power(powers, first * layout.tile_extent());
    return shifted(result(*head + tiles + *tail), displacement, key);
}

Fingerprint shifted(Fingerprint pieces, Offset distance, FingerprintKey const& key) noexcept {
    return result(element(pieces) * power(key.powers(), distance));
}

Fingerprint repeated(Fingerprint pieces, std::int64_t times, Offset step,
                     FingerprintKey const& key) noexcept {
    return result(element(pieces) * geometric(power(key.powers(), step), times));
}

}  // namespace sluice
