// How prices are read between measured points, and the prices of a machine that nobody measured.
// See machine.hpp.
#include "base/machine.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// On the straight line through two points, anywhere.
double on_line(double x, double x0, double y0, double x1, double y1) noexcept {
    return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
}

/// A request that takes `start` and then its bytes, at several sizes.
Curve straight(double start, double byte) {
    Curve curve;
    for (Bytes const bytes : {Bytes{4} << 10, Bytes{64} << 10, Bytes{1} << 20, Bytes{16} << 20})
        curve.points.push_back({bytes, start + static_cast<double>(bytes) * byte});
    return curve;
}

MachineProfile make_usual_machine() {
    // A page cache that takes some 1 GB/s, of clients together, before a disk: long writes wait
    // for the disk sooner or later, and what is read is in the cache or not.
    constexpr double byte = 2e-9, start = 20e-6, seek = 200e-6;
    MachineProfile machine;
    for (auto* const costs : {&machine.sequential, &machine.random}) {
        double const each = costs == &machine.random ? start + seek : start;
        for (RequestCosts& way : *costs) {
            way.depths.push_back({1, straight(each, byte)});
            way.depths.push_back({2, straight(2 * each, 2 * byte)});
        }
    }
    return machine;
}

}  // namespace

double Curve::seconds(double bytes) const noexcept {
    if (points.empty()) return 0;
    if (bytes <= static_cast<double>(points.front().bytes)) return points.front().seconds;
    std::size_t next = 1;
    while (next < points.size() && bytes > static_cast<double>(points[next].bytes)) ++next;
    bool const beyond = next == points.size();
    if (beyond && next == 1) return points.front().seconds;
    if (beyond) --next;
    Point const &a = points[next - 1], &b = points[next];
    // Noise may have made the last point cheaper than the one before: that does not go on.
    if (beyond && b.seconds < a.seconds) return b.seconds;
    return on_line(bytes, static_cast<double>(a.bytes), a.seconds, static_cast<double>(b.bytes),
                   b.seconds);
}

double RequestCosts::seconds(double bytes, double clients) const noexcept {
    if (depths.empty()) return 0;
    std::size_t next = 0;
    while (next < depths.size() && clients > depths[next].clients) ++next;
    if (next == 0) return depths.front().one.seconds(bytes);
    if (next == depths.size()) {
        double const most = depths.back().clients;
        return depths.back().one.seconds(bytes) * clients / std::max(1.0, most);
    }
    Depth const &a = depths[next - 1], &b = depths[next];
    if (clients >= b.clients) return b.one.seconds(bytes);
    return on_line(clients, a.clients, a.one.seconds(bytes), b.clients, b.one.seconds(bytes));
}

MachineProfile const& usual_machine() {
    static MachineProfile const machine = make_usual_machine();
    return machine;
}

}  // namespace sluice
