// An experiment simulates one collective call of all ranks of a described machine, and checks every
// byte.
#pragma once
#include "file/plan/plan.hpp"
#include "simulate/accounts.hpp"
#include "simulate/simulated_machine.hpp"

#include <functional>

namespace sluice::simulated {

class Meter;

struct Experiment {
    Machine machine;
    Hints hints;
    Rank local_aggregators = 0;  ///< Of two-layer aggregation, in all; 0: one of each node.
    std::shared_ptr<MachineProfile const> profile;  ///< By which ranks choose; null: by rules.
    Bytes cb_buffer_bytes_max = Bytes{1}
                                << 20;  ///< Staging memory that each node has for a window.
    std::uint64_t seed = 1;
    std::function<Request(Rank)> request;  ///< What a rank asks for; all in one direction.
    Meter* meter = nullptr;                ///< Told about all ranks' progress; null: nobody.
    bool checked = true;                   ///< All bytes are compared with those of a serial model.
};

struct Outcome {
    std::string fault;   ///< Empty: complete, and right.
    double seconds = 0;  ///< Until the last rank was told of completion.
    Parts largest;       ///< Of each part, what the rank with most of it saw.
    Parts sum;           ///< Of all ranks.
    std::int64_t messages = 0;
    Bytes message_bytes = 0, bytes = 0;  ///< Bytes: what the ranks asked for.
    std::int64_t storage_calls = 0;
    std::int64_t events = 0;  ///< What the simulation went through.
    Plan plan;
};

[[nodiscard]] Outcome run(Experiment const& experiment);

/// The bytes that belong to a place of the file: a pattern of words that depends on the offset.
void fill_with_pattern(std::byte* to, Offset file_offset, Bytes bytes) noexcept;

}  // namespace sluice::simulated
