// Weighing a request, and finding borders of equal weight. See weights.hpp.
#include "file/plan/weights.hpp"

#include <algorithm>
#include <cmath>
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

Weights Weights::crowded(double density) noexcept {
    constexpr auto shares = static_cast<double>(share_count);
    auto const full =
        static_cast<std::size_t>(std::clamp(std::ceil(density * shares), 1.0, shares));
    Weights weights;
    std::fill_n(weights.bytes.begin(), full, Bytes{1});
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

double fullest_part(Weights const& weights, double parts) noexcept {
    constexpr auto shares = static_cast<double>(Weights::share_count);
    double const count = std::clamp(std::floor(parts), 1.0, shares), length = shares / count;
    double total = 0, part = 0, fullest = 0, border = length;
    for (std::size_t i = 0; i < Weights::share_count; ++i) {
        auto const bytes = static_cast<double>(weights.bytes[i]);
        auto const end = static_cast<double>(i + 1);
        total += bytes;
        if (end < border) {
            part += bytes;
            continue;
        }
        double const beyond = end - border;  // Less than a share, as parts are no shorter.
        fullest = std::max(fullest, part + bytes * (1 - beyond));
        part = bytes * beyond;
        border += length;
    }
    // Rounding may have left the last border behind the last share.
    fullest = std::max(fullest, part);
    return total > 0 ? std::max(1.0, fullest * count / total) : 1;
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
