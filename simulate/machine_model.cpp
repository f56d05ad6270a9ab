// When ports and servers are free. See machine_model.hpp.
#include "simulate/machine_model.hpp"

#include "simulate/index.hpp"

#include <algorithm>

namespace sluice::simulated {
MachineModel::MachineModel(Machine const& machine)
    : machine_(machine),
      servers_(index(machine.storage_servers)) {
    auto const ports = [](std::int32_t count, std::int32_t capacity) {
        Port port;
        port.capacity = capacity;
        return std::vector<Port>(index(count), port);
    };
    if (machine.device) device_.emplace(*machine.device);
    out_ = in_ = ports(machine.ranks(), machine.ports);
    card_out_ = card_in_ = ports(machine.nodes, machine.card_ports);
}

MachineModel::Path MachineModel::path(LetterId id) {
    Letter const& l = mail_->letter(id);
    Node const from = l.from / machine_.ranks_per_node, to = l.to / machine_.ranks_per_node;
    Path path{{&out_[index(l.from)], &in_[index(l.to)]}, {nullptr, nullptr}};
    if (from != to) path.cards[0] = &card_out_[index(from)], path.cards[1] = &card_in_[index(to)];
    return path;
}

void MachineModel::posted(LetterId id) {
    if (flights_.size() <= id) flights_.resize(index(id) + 1);
    Letter const& l = mail_->letter(id);
    if (!l.send_posted || l.arrived || flights_[id].ready) return;
    if (!l.recv_posted && !leaves_at_once(l.bytes, l.synchronous)) return;
    flights_[id] = {true, next_order_++};
    try_start(id);
}

void MachineModel::try_start(LetterId id) {
    Path const needed = path(id);
    for (auto const& ports : {needed.ranks, needed.cards}) {
        for (Port* const port : {ports[0], ports[1]}) {
            if (!port || port->capacity == 0 || port->taken < port->capacity) continue;
            port->queue.push_back({flights_[id].order, id});
            std::push_heap(port->queue.begin(), port->queue.end(), std::greater<>());
            return;
        }
    }
    start(id, needed);
}

void MachineModel::start(LetterId id, Path const& path) {
    Letter const& l = mail_->letter(id);
    MailCounts const& receiver = mail_->counts(l.to);
    double const bytes_seconds = static_cast<double>(l.bytes) * machine_.byte_seconds;
    double seconds = machine_.start_seconds + bytes_seconds +
                     machine_.queue_seconds * (receiver.awaited + receiver.unexpected);
    if (machine_.noise_seconds > 0) seconds += machine_.noise_seconds * time_->draw_normal();
    seconds = std::max(0.0, seconds);
    for (Port* const port : path.ranks) ++port->taken;
    time_->at(time_->now() + seconds, *this, static_cast<std::uint32_t>(Event::arrived), id);
    if (!path.cards[0] || machine_.card_ports == 0) return;
    for (Port* const port : path.cards) ++port->taken;
    double const held = std::min(seconds, machine_.card_start_seconds + bytes_seconds);
    auto const cards = static_cast<std::uint64_t>(path.cards[0] - card_out_.data()) << 32 |
                       static_cast<std::uint64_t>(path.cards[1] - card_in_.data());
    time_->at(time_->now() + held, *this, static_cast<std::uint32_t>(Event::card_free), cards);
}

void MachineModel::happened(std::uint32_t kind, std::uint64_t subject) {
    if (static_cast<Event>(kind) == Event::card_free) {
        release(card_out_[subject >> 32]);
        release(card_in_[subject & 0xffffffff]);
        return;
    }
    auto const id = static_cast<LetterId>(subject);
    Path const used = path(id);
    flights_[id].ready = false;
    mail_->arrive(id);
    for (Port* const port : used.ranks) release(*port);
}

/// What waits for the port may find another one taken, and then waits for that.
void MachineModel::release(Port& port) {
    --port.taken;
    while (!port.queue.empty() && port.taken < port.capacity) {
        std::pop_heap(port.queue.begin(), port.queue.end(), std::greater<>());
        LetterId const id = port.queue.back().id;
        port.queue.pop_back();
        try_start(id);
    }
}

double MachineModel::transfer_end(std::span<DeviceAccess const> calls) {
    if (device_) {
        double end = time_->now();
        for (DeviceAccess const& call : calls) end = device_->serve(end, call);
        return end;
    }
    Bytes bytes = 0;
    for (DeviceAccess const& call : calls) bytes += call.bytes;
    double const seconds = static_cast<double>(calls.size()) * machine_.storage_start_seconds +
                           static_cast<double>(bytes) * machine_.storage_byte_seconds;
    if (servers_.empty()) return time_->now() + seconds;
    std::pop_heap(servers_.begin(), servers_.end(), std::greater<>());
    double& free_at = servers_.back();
    free_at = std::max(free_at, time_->now()) + seconds;
    double const end = free_at;
    std::push_heap(servers_.begin(), servers_.end(), std::greater<>());
    return end;
}

}  // namespace sluice::simulated
