// Ranks that do one thing after the other, as a program of blocking calls does: they post messages,
// wait for all of them (MPI_Waitall), write, and go on. For what other libraries do; Sluice's own
// operations run in simulate/world.hpp. Only lengths are simulated: no bytes are kept.
#pragma once
#include "simulate/machine_model.hpp"

#include <memory>

namespace sluice::simulated {

struct Post {
    Rank peer;
    Bytes bytes;
};

/// What a rank does between two calls of MPI_Waitall.
struct WaitallStep {
    Bytes copied = 0;                   ///< First the processor copies,
    std::int64_t pieces = 0;            ///< and looks at pieces of layouts.
    std::vector<Post> receives, sends;  ///< Posted in this order, receives first.
    bool synchronous = false;           ///< MPI_Issend in the place of MPI_Isend.
    Bytes written = 0;                  ///< To the file, when all messages have come.
    Offset offset = 0;
    std::size_t part = 0;  ///< Under which the step's time is counted.
};

/// What all ranks do. Called in the order of virtual time.
class WaitallProgram {
public:
    virtual ~WaitallProgram() = default;
    /// The next step of a rank; false: it has none, and is finished.
    virtual bool next(Rank rank, WaitallStep& step) = 0;
    /// No message is longer.
    [[nodiscard]] virtual Bytes longest_message() const = 0;
};

struct WaitallOutcome {
    std::string fault;          ///< Empty: all messages found their receives.
    double seconds = 0;         ///< Until the last rank finished.
    std::vector<double> parts;  ///< Of each part, the most that a rank spent in it.
    std::int64_t messages = 0, events = 0;
    Bytes message_bytes = 0;
};

[[nodiscard]] WaitallOutcome run_waitall(Machine const& machine, WaitallProgram& program,
                                         std::uint64_t seed);

}  // namespace sluice::simulated
