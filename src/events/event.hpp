// A TraceEvent is something that a rank did from one moment to another. The thread that did it
// writes the event when it has ended, so an event is whole or is not there, also where a ring has
// overwritten those before it.
#pragma once
#include <cmath>
#include <cstdint>

namespace sluice {

/// In which row of the picture an event lies. Events of a thread nest in each other. The others
/// overlap as they like, and get as many rows as they need (events/rows.hpp).
enum class TraceRow : std::uint8_t { thread, operations, rounds, transfers, messages };

enum class TraceKind : std::uint8_t {
    none,          ///< No event: of memory that nobody has written.
    call,          ///< A function of MPI; `detail` is its name.
    wait,          ///< A thread found nothing to do; `detail` is a TraceWait.
    copy_in,       ///< The user's bytes into a collective buffer.
    copy_out,      ///< From a collective buffer into the user's memory.
    pack,          ///< Into a message.
    unpack,        ///< Out of a message.
    copy_behind,   ///< The bytes of a write that is delayed, into the library's memory.
    behind_taken,  ///< A moment: from here on `bytes` more are behind their calls.
    behind_over,   ///< A moment: they are in the file.
    operation_write,
    operation_read,
    operation_agree,  ///< One that moves no bytes: the ranks agree on an outcome.
    // The stages of an operation.
    summary_exchange,
    overlap,
    weights,
    claims,
    exchange,
    agreement,
    round,           ///< This rank's part in a round of an aggregator.
    transfer_write,  ///< From when storage was asked until the bytes were in the file.
    transfer_read,
    request_write,  ///< One request to the system; `detail` is a TraceRequest.
    request_read,
    send,
    receive,
    between,  ///< The program's own time between two calls; made when parts are merged.
    last = between
};

/// What a thread waits for.
enum class TraceWait : std::uint8_t {
    unknown,
    calls,         ///< Other ranks have not made the call yet.
    ends,          ///< Other ranks have not ended their part.
    claims,        ///< In which rounds other ranks take part.
    copies,        ///< Other ranks of the node have not copied their bytes.
    cb_buffer,     ///< A collective buffer is in use.
    message,       ///< A message from `peer`, or its receive.
    file,          ///< Storage.
    memory,        ///< Room for a write that is to be delayed.
    earlier,       ///< An earlier operation of the file.
    other_writer,  ///< Delayed writes of other processes.
    given_work,    ///< What the program has given to a device before the call.
    last = given_work
};

/// How a request reached the system.
enum class TraceRequest : std::uint8_t { single, vectored, last = vectored };

struct TraceKindText {
    char const *name, *category;
    TraceRow row;
};
[[nodiscard]] TraceKindText const& text_of(TraceKind kind) noexcept;
[[nodiscard]] char const* text_of(TraceWait what) noexcept;
/// "pwritev", "pread" and so on.
[[nodiscard]] char const* text_of(TraceRequest how, bool write) noexcept;

/// Times are nanoseconds of the process's monotonic clock.
struct TraceEvent {
    std::int64_t begin = 0, end = 0;
    std::int64_t operation = -1;  ///< Number in the file's operation queue; -1: of none.
    std::int64_t bytes = -1;      ///< -1: not known, or none.
    std::int64_t offset = -1;     ///< In the file; -1: no matter.
    std::uint64_t flow = 0;       ///< Of messages: the same at both ends.
    std::int32_t peer = -1;       ///< Rank in the world; -1: none.
    std::int32_t round = -1;
    std::int16_t aggregator = -1;
    std::uint16_t file = 0;  ///< Among the names of the rank; 0: none.
    TraceKind kind = TraceKind::none;
    std::uint8_t lane = 0;     ///< The row of the thread that did it.
    std::uint16_t detail = 0;  ///< Of a call its name; else as the kind says.
};
static_assert(sizeof(TraceEvent) == 64);

/// To the nearest; of times that are not negative.
[[nodiscard]] inline std::int64_t nanoseconds(double seconds) noexcept {
    return std::lrint(seconds * 1e9);
}

}  // namespace sluice
