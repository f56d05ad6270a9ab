// A FabricWire is what the messages of fabric_peer.hpp need of a fabric: short messages that the
// receiver's slots take, and writes into memory that a peer has shown. libfabric_endpoint.hpp has
// it by libfabric; tests have one that delays, reorders and refuses.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace sluice {

class Fabric;

/// A peer, numbered by this process in the order in which it met them.
using FabricIndex = std::uint32_t;

/// What a process tells the others of itself before the first message; trivially copyable. It tells
/// it to processes of its job only, because of the key.
struct FabricCard {
    std::array<std::byte, 64> address{};  ///< As the provider has it.
    std::uint32_t address_bytes = 0;
    std::uint32_t slots = 0;           ///< How many messages of one peer it takes at a time.
    std::int32_t rank = 0;             ///< In MPI_COMM_WORLD, for people.
    std::uint64_t name = 0;            ///< No other process has it; 0: the process has no fabric.
    std::uint64_t key = 0;             ///< Secret. Messages to the process have it in them.
    std::array<char, 40> provider{};   ///< Ends with a zero.
    std::array<char, 40> host_name{};  ///< For people; ends with a zero.
};

/// Memory that peers may write to.
struct ShownMemory {
    std::uint64_t address = 0, key = 0;
    void* registration = nullptr;  ///< Null: the memory is held.
};

enum class WireResult : std::uint8_t {
    taken,
    full,  ///< Nothing happened: try again after the next progress.
    lost,  ///< The peer cannot be reached.
};

/// What a wire knows of a peer that is silent.
enum class PeerLife : std::uint8_t {
    alive,
    asked,    ///< The answer is not there yet: look again soon.
    ended,    ///< Its process has ended, or cannot be reached for long.
    unknown,  ///< Only who sends something finds out.
};

class FabricWire {
public:
    virtual ~FabricWire() = default;

    /// How to reach a peer. False: the provider does not understand the address.
    virtual bool meet(FabricIndex peer, std::span<std::byte const> address) = 0;
    /// The longest message.
    [[nodiscard]] virtual std::size_t message_most() const noexcept = 0;
    /// The longest write.
    [[nodiscard]] virtual std::size_t write_most() const noexcept = 0;
    /// How many bits a write brings beside its bytes: 64, or 32.
    [[nodiscard]] virtual unsigned data_bits() const noexcept = 0;
    /// Sends both parts as one message, and keeps neither: it has copied them when this returns.
    virtual WireResult send(FabricIndex peer, std::span<std::byte const> head,
                            std::span<std::byte const> body) = 0;
    /// Writes into memory of the peer, which gets `data` when all bytes are there. The bytes must
    /// live until the wire gives `context` back.
    virtual WireResult write(FabricIndex peer, std::span<std::byte const> bytes,
                             std::uint64_t address, std::uint64_t key, std::uint64_t data,
                             void* context) = 0;
    /// Nothing where the provider refuses.
    virtual std::optional<ShownMemory> show(std::span<std::byte> memory) = 0;
    /// Memory that will be shown and written from again and again, until release(): it is
    /// registered once. `owner`: a number of the caller's.
    virtual void hold(std::uint64_t owner, std::span<std::byte> memory) = 0;
    /// No message of the owner is under way.
    virtual void release(std::uint64_t owner) = 0;
    /// Asked about a peer that is silent, again and again.
    virtual PeerLife life_of(FabricIndex peer, double now) = 0;
    /// No write reaches the memory afterwards. Memory that is held has none to hide.
    virtual void hide(void* registration) = 0;

    /// What peers must know of this process. The key and the name are drawn when it is opened.
    [[nodiscard]] virtual FabricCard const& card() const noexcept = 0;
    /// Brings what came to `fabric`. Bounded. True when there was anything.
    virtual bool progress(Fabric& fabric) = 0;
    /// Whether the provider had no room for receives: progress() posts them again.
    [[nodiscard]] virtual bool has_unposted() const noexcept { return false; }
    /// Whether the provider has sends of which it has not told the end, though for who started
    /// them they are complete: progress() moves them on.
    [[nodiscard]] virtual bool has_sends() const noexcept { return false; }
    /// Polls readable when progress() may have something to do; -1: the provider has none.
    [[nodiscard]] virtual int descriptor() const noexcept { return -1; }
    /// Asked before a sleep on the descriptor: false where progress() has something to do.
    [[nodiscard]] virtual bool may_sleep() { return true; }
    /// For people: where peers find it.
    [[nodiscard]] virtual std::string address_text() const { return {}; }
};

struct FabricOptions {
    std::string provider;
    std::size_t peers = 1;         ///< How many there will be, more or less.
    double patience_seconds = 60;  ///< With a peer that does not answer.
};
/// One endpoint of libfabric. Null, and why, where the provider refuses.
[[nodiscard]] std::unique_ptr<FabricWire> open_libfabric(FabricOptions const& options,
                                                         std::string& why);

}  // namespace sluice
