// The ports are the outside world as the interpreter of schedules sees it: storage, messages,
// doorbells, a clock. src/transport, src/storage and src/system implement them for real jobs, and
// simulate for simulated ones. Calls return at once, but for Storage::run().
#pragma once
#include "base/error.hpp"
#include "base/request.hpp"
#include "base/rows.hpp"
#include "base/topology.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace sluice {

/// Wakes the ranks of a node. A ring tells that something changed, not what.
class Doorbells {
public:
    virtual ~Doorbells() = default;
    /// Wakes the rank with this local index if it sleeps.
    virtual void ring(Rank local) = 0;
};

/// A message under way; owned by who started it, kept until finished() said so.
struct Message {
    std::uint64_t handle = 0;
    Bytes received = 0;  ///< Set by finished() for receives.
    Bytes placed = 0;    ///< The same: of bytes that were written to their places.
    // Of one that the network could not take or bring; it is finished.
    Status status = Status::ok;  ///< `truncated`: it is longer than its receive.
    int code = 0;                ///< What the MPI said; 0: it was not the MPI.
    char const* what = nullptr;  ///< The function of the MPI, or what happened.

    [[nodiscard]] bool failed() const noexcept { return status != Status::ok; }
    /// With what the one knows who started it.
    [[nodiscard]] Error error(Rank peer) const noexcept {
        auto const source = code == 0 ? Error::Source::library : Error::Source::mpi;
        return {status, source, code, what, 0, -1, peer};
    }
};

/// Bytes that a message does not hold: the sender writes them to their place in memory of the
/// receiver, without a copy on the way.
struct PlacedPart {
    std::byte const* memory = nullptr;  ///< At the sender.
    Bytes at = 0;                       ///< From the begin of the receiver's memory.
    Bytes length = 0;
};

/// Messages between ranks of different nodes, matched by peer and tag in the order of their starts.
class Network {
public:
    virtual ~Network() = default;
    /// `synchronous`: is not finished before the receive began.
    virtual Message start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                               bool synchronous) = 0;
    /// The message may be shorter than the memory.
    virtual Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) = 0;
    virtual bool finished(Message& message) = 0;

    /// Whether messages may have parts that are written to their places: where it is false, the
    /// three functions after it are not called with any.
    [[nodiscard]] virtual bool places() const noexcept { return false; }
    /// A message with parts beside its bytes. Both, and what the parts point to, must live until it
    /// is finished. It goes only to a receive by start_placing_recv().
    virtual Message start_placing_send(Rank peer, int tag, std::span<std::byte const> bytes,
                                       std::span<PlacedPart const>) {
        return start_send(peer, tag, bytes, false);
    }
    /// `target` is where parts go. Nothing else may touch their places until it is finished. The
    /// message may have no parts.
    virtual Message start_placing_recv(Rank peer, int tag, std::span<std::byte> bytes,
                                       std::span<std::byte>) {
        return start_recv(peer, tag, bytes);
    }
    /// Memory that parts will come from and go to again and again: it is registered with the
    /// network once. It stays until the network ends.
    virtual void hold(std::span<std::byte>) {}

    /// This rank takes no part in messages any more: all of them end, now and later, here and at
    /// the peers, which are told where the network can.
    virtual void give_up() {}
    /// Whether a peer cannot be reached any more or has given up: no operation of all ranks can
    /// end well then.
    [[nodiscard]] virtual bool has_lost_peer() { return false; }

    /// Moves messages on by itself, before any of them is asked about; true when anything moved.
    virtual bool progress() { return false; }
    /// Messages under way whose end rings no doorbell: while there are any, it must be asked.
    [[nodiscard]] virtual int due() const noexcept { return 0; }
    /// Asked before one sleeps: whether this rank will help itself within microseconds, without a
    /// ring. Then it may yield its core before it looks again, but must not sleep.
    [[nodiscard]] virtual bool must_look_again() noexcept { return false; }
};

/// Bytes that lie together in the file and in memory.
struct Segment {
    Offset file_offset = 0;
    std::byte* memory = nullptr;
    Bytes length = 0;
};

/// Segments to be written or read, produced one by one by the thread that transfers them.
class Transfer {
public:
    explicit Transfer(Direction way) noexcept : direction(way) {}
    virtual ~Transfer() = default;
    Transfer(Transfer const&) = delete;
    Transfer& operator=(Transfer const&) = delete;

    /// Empty at the end of a part.
    virtual std::optional<Segment> next() = 0;
    /// Called when all segments of a part have been transferred, or one has failed, and the results
    /// below are those so far. False: no part is left. May wait for a device.
    virtual bool next_part() { return false; }
    /// Whether there may be several: segments of two parts must not be under way together.
    [[nodiscard]] virtual bool has_parts() const noexcept { return false; }

    Direction const direction;
    Span exclusive;  ///< Nobody else may access these bytes meanwhile; empty: no matter.
    std::int64_t operation = -1;  ///< For traces: whose it is.
    /// Called by whoever transfers; the first error stays.
    void fail(Error const& what) noexcept { error = first_of(error, what); }
    [[nodiscard]] Status status() const noexcept { return error.status; }

    // Results; valid once `done` is true.
    Error error;
    Bytes bytes = 0;               ///< Transferred; short when reading across the end.
    Offset end_of_file = endless;  ///< Where a read found the file to end.
    std::atomic<bool> done{false};
};

/// Pieces of the file that are longer than this gain nothing from an exchange, unless the storage
/// knows better.
inline constexpr Bytes independent_piece_bytes_usual = Bytes{512} << 10;

/// One file. Everything that happens to it goes through start(); sets `done`, then rings the rank.
class Storage {
public:
    virtual ~Storage() = default;
    virtual void start(Transfer& transfer) = 0;
    /// Transfers in the calling thread; for short ones in calls that may block.
    virtual void run(Transfer& transfer) = 0;
    /// Pieces of the file of at least this size gain nothing from an exchange on the way to it.
    [[nodiscard]] virtual Bytes independent_piece_bytes(Direction) {
        return independent_piece_bytes_usual;
    }
};

/// What a device is at work on: bytes on their way between its memory and the host's, or what the
/// program has given it.
class DeviceWork {
public:
    DeviceWork() = default;
    virtual ~DeviceWork() = default;
    DeviceWork(DeviceWork const&) = delete;
    DeviceWork& operator=(DeviceWork const&) = delete;

    /// Its end rings the rank. Returns at once.
    [[nodiscard]] virtual bool finished() = 0;
    /// Until it is finished. Blocks.
    virtual void wait() = 0;
    /// Of one that is finished.
    [[nodiscard]] virtual Error error() const = 0;
};

/// Memory that the processor does not reach.
class Device {
public:
    virtual ~Device() = default;
    /// Begins to copy: of a write from the device to the host, of a read to the device. All memory
    /// must live until the copy is finished. Any thread.
    virtual std::unique_ptr<DeviceWork> start(Direction way, std::vector<Rows> rows) = 0;
    /// Memory of the host that copies will come from and go to again and again: it is registered
    /// with the device once, and stays until the process ends. Any thread.
    virtual void hold(std::span<std::byte>) {}
    /// Memory of the host, window_bytes() long, that is registered; given back with the last copy
    /// of the pointer. Null where there is none: other memory serves as well, only slower.
    virtual std::shared_ptr<std::byte> take_window() = 0;
    [[nodiscard]] virtual Bytes window_bytes() const noexcept = 0;
};

/// The memory of a call: the program's, or an image of it.
struct UserMemory {
    UserMemory(std::byte* its_data = nullptr, Device* its_device = nullptr) noexcept
        : data(its_data),
          device(its_device) {}
    std::byte* data;
    Device* device;  ///< Null: the processor reaches all of it.

    /// What offsets of the memory's layout are counted from.
    [[nodiscard]] Offset address() const noexcept { return reinterpret_cast<Offset>(data); }
};

/// Told what the rank's processor was busy with: for simulations, in which it takes time.
class Work {
public:
    virtual ~Work() = default;
    virtual void done(Bytes copied, std::int64_t pieces) = 0;
};

/// Seconds since some fixed time.
class Clock {
public:
    virtual ~Clock() = default;
    virtual double now() = 0;
};

}  // namespace sluice
