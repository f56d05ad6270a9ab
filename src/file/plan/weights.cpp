// Weighing a request, and finding borders of equal weight. See weights.hpp.
#include "file/plan/weights.hpp"

#include <numeric>

namespace sluice {
namespace {

/// Share i of the span; the last ones are empty where the span is very short.
Span share_of(Span span, std::size_t i) noexcept {
    auto const count = static_cast<Bytes>(Weights::share_count);
    Bytes const length = (span.bytes() + count - 1) / count;
    Offset const begin = span.begin + static_cast<Bytes>(i) * length;
    return clip({begin, begin + length}, span);
}

}  // namespace

Weights Weights::even() noexcept {
    Weights weights;
    weights.bytes.fill(1);
    return weights;
}

Weights& Weights::operator+=(Weights const& other) noexcept {
    for (std::size_t i = 0; i < share_count; ++i) bytes[i] += other.bytes[i];
    lost += other.lost;
    return *this;
}

Weights& Weights::operator-=(Weights const& other) noexcept {
    for (std::size_t i = 0; i < share_count; ++i) bytes[i] -= other.bytes[i];
    lost -= other.lost;
    return *this;
}

Weights weigh(Request const& request, Span span) noexcept {
    Weights weights;
    for (std::size_t i = 0; i < Weights::share_count; ++i) {
        weights.bytes[i] = positions_in(request, share_of(span, i)).bytes();
    }
    return weights;
}

Offset border_of(Weights const& weights, Span span, std::int64_t k, std::int64_t count) noexcept {
    Bytes const total = std::accumulate(weights.bytes.begin(), weights.bytes.end(), Bytes{0});
    Bytes left = total / count * k + total % count * k / count;
    for (std::size_t i = 0; i < Weights::share_count; ++i) {
        if (left > weights.bytes[i]) {
            left -= weights.bytes[i];
            continue;
        }
        Span const share = share_of(span, i);
        if (weights.bytes[i] == 0) return share.begin;
        double const part = static_cast<double>(left) / static_cast<double>(weights.bytes[i]);
        return share.begin + static_cast<Offset>(part * static_cast<double>(share.bytes()));
    }
    return span.end;
}

}  // namespace sluice
