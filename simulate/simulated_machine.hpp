// A simulated machine as numbers: nodes, messages with a start-up time and a time for each byte,
// ports, noise and queues, the speed of processors, and storage. Times are in seconds.
#pragma once
#include "base/description.hpp"
#include "base/extent.hpp"
#include "base/topology.hpp"
#include "device/model/device.hpp"
#include "file/plan/exchange_choice.hpp"

#include <span>
#include <string>
#include <variant>

namespace sluice::simulated {

struct Machine {
    Rank nodes = 4;
    Rank ranks_per_node = 4;
    Rank rank_count = 0;  ///< 0: all nodes are full. Else the last ones may not be.

    double start_seconds = 2e-6;    ///< Of a message between nodes, whatever its length.
    double byte_seconds = 1e-10;    ///< For each byte of it.
    Bytes eager_bytes = 8192;       ///< Up to here a message leaves without its receive.
    std::int32_t ports = 1;         ///< Messages of a rank at once, each way; 0: any number.
    std::int32_t card_ports = 0;    ///< The same of a node's network card.
    double card_start_seconds = 0;  ///< How long a message holds the card beside its bytes' time.
    double noise_seconds = 0;       ///< Deviation of the normal noise of each message.
    double queue_seconds = 0;       ///< For each request in the receiver's queue, by each message.

    double copy_byte_seconds = 1e-10;  ///< Of a processor that copies.
    double piece_seconds = 0;          ///< Of a processor that looks at a piece of a layout.
    double wake_seconds = 1e-6;        ///< Until a rank goes on that something happened to.

    double storage_start_seconds = 1e-4;  ///< Of each request to the file.
    double storage_byte_seconds = 1e-9;   ///< Of one server.
    std::int32_t storage_servers = 4;     ///< Requests served at once; 0: any number.
    std::optional<DeviceProfile> device;  ///< In the place of these servers: one for all ranks.

    [[nodiscard]] Rank ranks() const noexcept {
        return rank_count > 0 ? rank_count : nodes * ranks_per_node;
    }
    /// As many nodes as are needed for so many ranks.
    void set_ranks(Rank count) noexcept {
        rank_count = count;
        nodes = (count + ranks_per_node - 1) / ranks_per_node;
    }
};

/// What the library knows of it when it chooses.
[[nodiscard]] inline Costs costs_of(Machine const& machine) noexcept {
    return {machine.start_seconds, machine.byte_seconds, machine.queue_seconds,
            machine.copy_byte_seconds, machine.wake_seconds};
}

/// One number of a machine, as a description names it.
struct MachineKey {
    char const* name;
    std::variant<std::int32_t Machine::*, std::int64_t Machine::*, double Machine::*> field;
    char const* unit;
    char const* meaning;
};

[[nodiscard]] std::span<MachineKey const> machine_keys() noexcept;
[[nodiscard]] std::vector<std::string> machine_names();

/// Takes "machine.preset" and the other keys of the section out, and where "machine.device" names a
/// device, or a section [device] describes one, those too. Complains to the description.
[[nodiscard]] Machine take_machine(Description& description);

/// A preset; the plain machine for an unknown name.
[[nodiscard]] std::optional<Machine> machine_named(std::string const& name);

/// Its numbers, as lines of a description.
[[nodiscard]] std::string describe(Machine const& machine);

}  // namespace sluice::simulated
