// Machines and workloads for tests of the cost model: storage as a device's profile states it, the
// rest as of a usual machine with a network of 1 Gbit/s.
#pragma once
#include "device/model/device.hpp"
#include "file/plan/cost_model.hpp"

namespace sluice::cases {

inline RequestCosts costs_of(DeviceProfile const& device, Direction direction, bool random) {
    RequestCosts costs;
    for (std::int32_t const clients : {1, 2, 4, 8}) {
        Curve curve;
        for (Bytes bytes = 4096; bytes <= Bytes{4} << 20; bytes *= 4) {
            double const speed = device_bandwidth(device, direction, random, bytes, clients);
            curve.points.push_back({bytes, clients * static_cast<double>(bytes) / speed});
        }
        costs.depths.push_back({clients, std::move(curve)});
    }
    return costs;
}

inline MachineProfile machine_with(std::string const& device) {
    MachineProfile machine = usual_machine();
    machine.measured = device + ", as its profile states it";
    machine.between = {5e-5, 8e-9};
    auto const profile = device_named(device).value();
    for (auto const way : {Direction::write, Direction::read}) {
        machine.sequential[static_cast<std::size_t>(way)] = costs_of(profile, way, false);
        machine.random[static_cast<std::size_t>(way)] = costs_of(profile, way, true);
    }
    return machine;
}

enum class Shape { contiguous, random, interleaved };

inline char const* describe(Shape shape) noexcept {
    return shape == Shape::contiguous ? "contiguous"
           : shape == Shape::random   ? "random"
                                      : "interleaved";
}

/// 4 MiB of each rank: in one piece; in pieces of 8 KiB of which every rank has one in turn; in as
/// many that lie anywhere in four times as much.
inline Workload work_of(Shape shape, Direction direction, double nodes, double ranks) {
    Workload w;
    w.direction = direction;
    w.nodes = nodes, w.ranks = ranks;
    w.bytes_most = 4 << 20;
    w.pieces_most = shape == Shape::contiguous ? 1 : w.bytes_most / 8192;
    w.bytes = w.bytes_most * ranks, w.pieces = w.pieces_most * ranks;
    w.span = shape == Shape::random ? 4 * w.bytes : w.bytes;
    w.interleaved = shape != Shape::contiguous;
    w.covered = nodes <= 1 && shape != Shape::random;
    w.cores_a_node = 2;
    if (nodes <= 1) return w;
    double const windows = w.span / w.counted_bytes;
    w.touched = shape == Shape::contiguous ? windows : windows * ranks;
    w.stretches = shape == Shape::contiguous ? nodes : w.pieces;
    return w;
}

inline Freedom freedom_of(Workload const& w) {
    Freedom freedom;
    freedom.aggregators_most = static_cast<std::int32_t>(w.ranks);
    freedom.window_most = Bytes{4} << 20;
    freedom.can_group = w.nodes > 1 && w.stretches > 0 && w.bytes / w.stretches >= 256 * 1024;
    return freedom;
}

}  // namespace sluice::cases
