// The keys of a description, and the machines that are known by name. See simulated_machine.hpp.
#include "simulate/simulated_machine.hpp"

#include <algorithm>
#include <cstdio>

namespace sluice::simulated {
namespace {

constexpr MachineKey keys[] = {
    {"nodes", &Machine::nodes, "", "nodes"},
    {"ranks_per_node", &Machine::ranks_per_node, "", "ranks of each node"},
    {"ranks", &Machine::rank_count, "", "ranks in all, on as many nodes as needed; 0: full nodes"},
    {"start_seconds", &Machine::start_seconds, "s", "of a message between nodes: t_s"},
    {"byte_seconds", &Machine::byte_seconds, "s", "of each byte of it: t_w"},
    {"eager_bytes", &Machine::eager_bytes, "bytes",
     "a message of up to so many leaves without its receive"},
    {"ports", &Machine::ports, "", "messages of a rank at once, each way; 0: any number"},
    {"card_ports", &Machine::card_ports, "",
     "messages of a node's card at once, each way; 0: any number"},
    {"card_start_seconds", &Machine::card_start_seconds, "s",
     "how long a message holds a port of the card, beside the time of its bytes"},
    {"noise_seconds", &Machine::noise_seconds, "s",
     "deviation of the normal noise of a message's time"},
    {"queue_seconds", &Machine::queue_seconds, "s",
     "paid by a message for each request in the receiver's queue"},
    {"copy_byte_seconds", &Machine::copy_byte_seconds, "s", "of each byte that a rank copies"},
    {"piece_seconds", &Machine::piece_seconds, "s",
     "of each piece of a layout that a rank looks at when it plans"},
    {"wake_seconds", &Machine::wake_seconds, "s", "until a rank goes on that was rung"},
    {"storage_start_seconds", &Machine::storage_start_seconds, "s", "of each request to the file"},
    {"storage_byte_seconds", &Machine::storage_byte_seconds, "s",
     "of each byte, by one storage server"},
    {"storage_servers", &Machine::storage_servers, "", "requests served at once; 0: any number"},
};

/// Many weak cores with an expensive queue, many storage servers: a Cray XC40 of KNL nodes.
Machine knl() {
    Machine m;
    m.nodes = 64, m.ranks_per_node = 64;
    m.start_seconds = 3e-6, m.byte_seconds = 5e-10, m.eager_bytes = 8192;
    m.card_ports = 4, m.noise_seconds = 3e-7, m.queue_seconds = 5e-8;
    m.copy_byte_seconds = 4e-10, m.piece_seconds = 1e-7, m.wake_seconds = 3e-6;
    m.storage_start_seconds = 5e-4, m.storage_byte_seconds = 1e-9, m.storage_servers = 64;
    return m;
}

/// Few strong cores with a cheap queue, a fat network: IBM AC922 nodes.
Machine power9() {
    Machine m;
    m.nodes = 98, m.ranks_per_node = 42;
    m.start_seconds = 1.3e-6, m.byte_seconds = 8e-11, m.eager_bytes = 16384;
    m.card_ports = 2, m.noise_seconds = 1e-7, m.queue_seconds = 1e-8;
    m.copy_byte_seconds = 1e-10, m.piece_seconds = 2e-8, m.wake_seconds = 1e-6;
    m.storage_start_seconds = 2e-4, m.storage_byte_seconds = 4e-10, m.storage_servers = 128;
    return m;
}

/// Small nodes at 1 Gbit/s, files in memory.
Machine ethernet() {
    Machine m;
    m.nodes = 4, m.ranks_per_node = 4;
    m.start_seconds = 3e-5, m.byte_seconds = 8.5e-9, m.eager_bytes = 65536;
    m.card_ports = 1, m.noise_seconds = 2e-6, m.queue_seconds = 2e-8;
    m.copy_byte_seconds = 2e-10, m.piece_seconds = 3e-8, m.wake_seconds = 2e-5;
    m.storage_start_seconds = 2e-5, m.storage_byte_seconds = 1e-9, m.storage_servers = 4;
    return m;
}

struct Preset {
    char const* name;
    Machine (*make)();
};

constexpr Preset presets[] = {{"knl", knl}, {"power9", power9}, {"ethernet", ethernet}};

/// Why there is no such machine; empty if there may be one. What there is of each rank and of each
/// server has to fit into memory.
std::string why_not(Machine const& machine) {
    constexpr std::int64_t most = 1 << 24;
    if (machine.nodes < 1 || machine.ranks_per_node < 1)
        return "a machine needs a node with a rank";
    std::int64_t const full = std::int64_t{machine.nodes} * machine.ranks_per_node;
    bool const fits = machine.rank_count > 0
                          ? std::max(machine.rank_count, machine.ranks_per_node) <= most
                          : full <= most;
    if (!fits) return "a machine has at most 16M ranks";
    if (machine.storage_servers > most) return "a machine has at most 16M storage servers";
    return {};
}

std::optional<DeviceProfile> take_storage_device(Description& description) {
    auto const name = description.take("machine.device");
    if (!name || *name == "none") return std::nullopt;
    auto device = device_named(*name);
    if (!device && *name != "own") description.fail("there is no device '" + *name + "'");
    if (!device) device = DeviceProfile{};
    take_device(description, *device);
    return device;
}

}  // namespace

std::span<MachineKey const> machine_keys() noexcept { return keys; }

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (Preset const& preset : presets) names.emplace_back(preset.name);
    return names;
}

std::optional<Machine> machine_named(std::string const& name) {
    for (Preset const& preset : presets) {
        if (name == preset.name) return preset.make();
    }
    return std::nullopt;
}

Machine take_machine(Description& description) {
    Machine machine;
    if (auto const name = description.take("machine.preset")) {
        if (auto const preset = machine_named(*name))
            machine = *preset;
        else
            description.fail("there is no machine '" + *name + "'");
    }
    for (MachineKey const& key : keys) {
        std::visit(
            [&](auto field) {
                description.take(std::string("machine.") + key.name, machine.*field);
            },
            key.field);
    }
    machine.device = take_storage_device(description);
    if (auto const why = why_not(machine); !why.empty())
        description.fail(why);
    else if (machine.rank_count > 0)
        machine.set_ranks(machine.rank_count);
    return machine;
}

std::string describe(Machine const& machine) {
    std::string text;
    for (MachineKey const& key : keys) {
        char line[128];
        std::visit(
            [&](auto field) {
                std::snprintf(line, sizeof line, "%s = %.6g\n", key.name,
                              static_cast<double>(machine.*field));
            },
            key.field);
        text += line;
    }
    if (machine.device) text += "device = \"" + machine.device->name + "\"\n";
    return text;
}

}  // namespace sluice::simulated
