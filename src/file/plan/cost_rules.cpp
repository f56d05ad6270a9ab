// What a profile says without a call to price, and estimates as text. See cost_model.hpp.
#include "file/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sluice {
namespace {

constexpr double nothing_much = 1.05;  ///< So much slower is as fast.
constexpr Bytes size_least = 4096, size_most = Bytes{1} << 30;
constexpr Bytes window_least = Bytes{64} << 10, window_most = Bytes{8} << 20;

/// Seconds for each byte, at best, when an exchange makes long requests of everything, and costs
/// nothing itself.
double best_byte_seconds(RequestCosts const& sequential, Rank ranks) noexcept {
    double best = 0;
    for (std::int64_t many = 1; many <= ranks; many *= 2) {
        auto const clients = static_cast<double>(many);
        for (Bytes window = window_least; window <= window_most; window *= 2) {
            auto const bytes = static_cast<double>(window);
            double const each = sequential.seconds(bytes, clients) / (bytes * clients);
            best = best > 0 ? std::min(best, each) : each;
        }
    }
    return best;
}

/// The least size from which on `fast_enough` holds; the most there is where it never does.
template <typename Test> Bytes from_which(Test&& fast_enough) noexcept {
    Bytes size = size_most;
    while (size >= size_least && fast_enough(static_cast<double>(size))) size /= 2;
    return size == size_most ? endless : std::max(size_least, size * 2);
}

std::string text_of(char const* format, double a, double b, double c, double d, double e) {
    char text[160];
    std::snprintf(text, sizeof text, format, a, b, c, d, e);
    return text;
}

std::string size_text(Bytes bytes) {
    if (bytes >= (Bytes{1} << 20) && bytes % (Bytes{1} << 20) == 0)
        return std::to_string(bytes >> 20) + "M";
    return bytes % 1024 == 0 ? std::to_string(bytes >> 10) + "K" : std::to_string(bytes);
}

}  // namespace

IndependentRule independent_rule(MachineProfile const& machine, Direction direction,
                                 Rank ranks) noexcept {
    auto const &sequential = machine.sequential[index_of(direction)],
               &random = machine.random[index_of(direction)];
    double const clients = std::max<Rank>(1, ranks);
    double const best = best_byte_seconds(sequential, std::max<Rank>(1, ranks));
    auto const as_fast = [&](RequestCosts const& costs, double bytes) {
        return costs.seconds(bytes, clients) <= nothing_much * best * bytes * clients;
    };
    IndependentRule rule;
    // Requests of one piece also gain what the exchange would have cost: one window at least.
    rule.contiguous_bytes = from_which([&](double bytes) {
        double const window = machine.round + 2 * machine.wake;
        double const saved = machine.exchange + window + bytes * machine.copy_byte;
        return as_fast(sequential, bytes) ||
               sequential.seconds(bytes, clients) <= saved + best * bytes * clients;
    });
    rule.piece_bytes = from_which([&](double bytes) { return as_fast(random, bytes); });
    return rule;
}

Bytes sieve_bytes(MachineProfile const& machine, Rank clients) noexcept {
    constexpr double small = 4096, near = 64 << 10, far = 1 << 20;
    auto const &sequential = machine.sequential[index_of(Direction::read)],
               &random = machine.random[index_of(Direction::read)];
    double const many = std::max<Rank>(1, clients);
    double const byte =
        (sequential.seconds(far, many) - sequential.seconds(near, many)) / (far - near);
    double const request = random.seconds(small, many) - small * byte;
    if (byte <= 0 || request <= 0) return 0;
    constexpr double most = 16 << 20;
    return static_cast<Bytes>(std::min(most, request / byte)) / 4096 * 4096;
}

Bytes window_bytes(MachineProfile const& machine, Direction direction) noexcept {
    auto const& sequential = machine.sequential[index_of(direction)];
    auto const byte = [&](Bytes bytes) {
        return sequential.seconds(static_cast<double>(bytes), 1) / static_cast<double>(bytes);
    };
    Bytes window = window_most;
    while (window > window_least && byte(window / 2) <= nothing_much * byte(window_most))
        window /= 2;
    return window;
}

std::string describe(Candidate const& c) {
    if (c.strategy != Strategy::two_phase) {
        return c.sieve_bytes > 0 ? "independent, sieving gaps up to " + size_text(c.sieve_bytes)
                                 : "independent";
    }
    std::string text = "two-phase, " + std::to_string(c.aggregators) +
                       (c.aggregators == 1 ? " aggregator, " : " aggregators, ") +
                       describe(c.domains) + ", windows " + size_text(c.window_bytes);
    if (c.layers != Layers::automatic)
        text += c.layers == Layers::one ? ", one layer" : ", two layers";
    return c.sieve_bytes > 0 ? text + ", gaps up to " + size_text(c.sieve_bytes) : text;
}

std::string describe(Estimate const& e) {
    return text_of("planning %.4g s, messages %.4g s, copies %.4g s, storage %.4g s, in all %.4g s",
                   e.planning, e.messages, e.copies, e.storage, e.total);
}

}  // namespace sluice
