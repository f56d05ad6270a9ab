// Which requests are timed: their kinds, sizes and places in the file, and how many. Pure.
#pragma once
#include "base/machine.hpp"

namespace sluice::calibrate {

/// Requests of one kind, each client with one under way at any time.
struct Point {
    Direction way = Direction::write;
    bool random = false;
    Bytes bytes = 0;  ///< Of a request.
    std::int32_t clients = 1;
    auto operator<=>(Point const&) const = default;
};

inline constexpr Bytes point_bytes_most = Bytes{4} << 20;
inline constexpr std::int32_t clients_most = 8;

/// Those that a file of this size has room for; fewer sizes where the device is slow.
[[nodiscard]] std::vector<Point> points_of(Bytes file_bytes, bool slow);

/// The same in an order of its own for each turn, alike on all ranks: what disturbs the machine for
/// a while then meets points of all kinds. Random ones come first: see place_of().
[[nodiscard]] std::vector<Point> shuffled(std::vector<Point> points, std::uint64_t turn);

/// Where a client's request goes; `before` counts the requests of all earlier trials. Sequential:
/// each client has a stretch of its own, which it walks through. Random: all requests together go
/// by the golden section, so that places close to each other in time are far apart in the file:
/// neither the device nor the system takes them for a stream, though the file is small.
[[nodiscard]] Offset place_of(Point const& point, Bytes file_bytes, std::int32_t client,
                              std::int64_t request, std::int64_t before) noexcept;

/// Requests of each client that take about `seconds`, where one takes `request_seconds`.
[[nodiscard]] std::int64_t requests_for(Point const& point, double request_seconds,
                                        double seconds) noexcept;

/// The costs of one kind of requests. None takes longer than a longer one does, or than the same
/// one beside more clients: where it was measured so something else disturbed it.
[[nodiscard]] RequestCosts costs_of(std::vector<std::pair<Point, double>> const& measured,
                                    Direction way, bool random);

}  // namespace sluice::calibrate
