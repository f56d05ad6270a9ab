// Arithmetic of places. See points.hpp.
#include "tools/calibrate/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace sluice::calibrate {
namespace {

constexpr Bytes kibibyte = 1024;
constexpr Bytes all_sizes[] = {4 * kibibyte,   16 * kibibyte,   64 * kibibyte,
                               256 * kibibyte, 1024 * kibibyte, point_bytes_most};
constexpr Bytes few_sizes[] = {4 * kibibyte, 64 * kibibyte, 1024 * kibibyte, point_bytes_most};
constexpr double golden = 0.6180339887498949;

double fraction(double value) noexcept { return value - std::floor(value); }

/// Which of `count` slots lies at this share of them.
std::int64_t slot_at(double share, std::int64_t count) noexcept {
    auto const slot = static_cast<std::int64_t>(share * static_cast<double>(count));
    return std::clamp<std::int64_t>(slot, 0, count - 1);
}

using Curves = std::map<std::int32_t, std::map<Bytes, double>>;  ///< By clients and size.

/// See costs_of().
void level(Curves& curves) {
    std::map<Bytes, double> least;  // Of all curves with more clients.
    for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {
        double of_longer = std::numeric_limits<double>::infinity();
        for (auto point = curve->second.rbegin(); point != curve->second.rend(); ++point) {
            auto const [known, first] = least.try_emplace(point->first, point->second);
            point->second = std::min({point->second, of_longer, known->second});
            of_longer = known->second = point->second;
        }
    }
}

}  // namespace

std::vector<Point> points_of(Bytes file_bytes, bool slow) {
    std::vector<Bytes> sizes(std::begin(all_sizes), std::end(all_sizes));
    if (slow) sizes.assign(std::begin(few_sizes), std::end(few_sizes));
    std::vector<Point> points;
    for (Bytes const bytes : sizes) {
        for (std::int32_t clients = 1; clients <= clients_most; clients *= 2) {
            constexpr Bytes requests_least = 2;
            if (requests_least * bytes * clients > file_bytes) continue;
            for (Direction const way : {Direction::write, Direction::read})
                for (bool const random : {false, true})
                    points.push_back({way, random, bytes, clients});
        }
    }
    return points;
}

std::vector<Point> shuffled(std::vector<Point> points, std::uint64_t turn) {
    std::mt19937_64 source(turn + 1);
    for (std::size_t left = points.size(); left > 1; --left)
        std::swap(points[left - 1], points[static_cast<std::size_t>(source() % left)]);
    std::stable_partition(points.begin(), points.end(), [](Point const& p) { return p.random; });
    return points;
}

Offset place_of(Point const& point, Bytes file_bytes, std::int32_t client, std::int64_t request,
                std::int64_t before) noexcept {
    if (point.random) {
        std::int64_t const number = before + request * point.clients + client;
        double const share = fraction(static_cast<double>(number) * golden);
        return slot_at(share, file_bytes / point.bytes) * point.bytes;
    }
    std::int64_t const slots = file_bytes / point.clients / point.bytes;
    double const begin = fraction(static_cast<double>(before) * golden);
    std::int64_t const slot = (slot_at(begin, slots) + request) % slots;
    return (client * slots + slot) * point.bytes;
}

std::int64_t requests_for(Point const& point, double request_seconds, double seconds) noexcept {
    // Of sequential ones the first is not timed: it goes to where the stretch begins.
    std::int64_t const least = point.random ? 1 : 2;
    constexpr std::int64_t most = 1 << 16;
    if (request_seconds <= 0) return least;
    double const wanted = std::min(seconds / request_seconds, static_cast<double>(most));
    return std::max(least, static_cast<std::int64_t>(wanted));
}

RequestCosts costs_of(std::vector<std::pair<Point, double>> const& measured, Direction way,
                      bool random) {
    Curves by_clients;
    for (auto const& [point, seconds] : measured) {
        if (point.way == way && point.random == random)
            by_clients[point.clients][point.bytes] = seconds;
    }
    level(by_clients);
    RequestCosts costs;
    for (auto const& [clients, curve] : by_clients) {
        RequestCosts::Depth depth;
        depth.clients = clients;
        for (auto const& [bytes, seconds] : curve) depth.one.points.push_back({bytes, seconds});
        costs.depths.push_back(std::move(depth));
    }
    return costs;
}

}  // namespace sluice::calibrate
