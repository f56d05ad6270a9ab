// A Fabric carries the messages of all communicators of this process over one endpoint of
// libfabric: it knows the peers, gives them what came, and moves on those that have something to
// send. A FabricNetwork is what one communicator sees of it. Any thread may call them.
#pragma once
#include "schedule/progress_hook.hpp"
#include "transport/fabric_peer.hpp"
#include "transport/linger.hpp"

#include <functional>
#include <mutex>

namespace sluice {

class Fabric final : public EventSource {
public:
    /// Null, and why, where the provider refuses.
    [[nodiscard]] static std::unique_ptr<Fabric> open(FabricOptions const& options,
                                                      std::string& why);
    /// `clock` outlives this.
    Fabric(std::unique_ptr<FabricWire> wire, Clock& clock) noexcept
        : wire_(std::move(wire)),
          clock_(clock) {}

    [[nodiscard]] FabricCard const& card() const noexcept { return wire_->card(); }
    /// For people: where peers find this process.
    [[nodiscard]] std::string address_text() const { return wire_->address_text(); }
    /// Finds or makes the peer with this card. Messages may go both ways afterwards.
    FabricIndex meet(FabricCard const& card);

    /// As those of a Network. A message that does not end well has its cause in it. With `parts` it
    /// goes only to a receive with a `target`.
    Message start_send(FabricIndex peer, std::uint64_t context, int tag,
                       std::span<std::byte const> bytes, bool synchronous,
                       std::span<PlacedPart const> parts = {});
    Message start_recv(FabricIndex peer, std::uint64_t context, int tag, std::span<std::byte> bytes,
                       std::span<std::byte> target = {});
    bool finished(Message& message);
    void hold(std::uint64_t context, std::span<std::byte> memory);
    /// All messages of the context with these peers end, and later ones too; `tells`: the peers are
    /// told, where they may be reached.
    void end(std::uint64_t context, std::span<FabricIndex const> peers, bool tells);
    /// No message of the context is under way, and none will be.
    void forget(std::uint64_t context);
    /// Whether all of these peers can be reached and take part in messages of the context.
    [[nodiscard]] bool all_take_part(std::uint64_t context, std::span<FabricIndex const> peers);
    /// Another number whenever that may have changed.
    [[nodiscard]] std::uint64_t ends() const noexcept {
        return ends_.load(std::memory_order_relaxed);
    }
    /// Takes what came and sends what waits. Bounded. True when anything moved.
    bool progress() override;
    [[nodiscard]] bool is_busy() const noexcept override { return is_busy_.load(); }
    [[nodiscard]] bool has_unsent() const noexcept override {
        return has_unsent_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool waits_for_room() const noexcept override { return waits_for_room_.load(); }
    [[nodiscard]] int descriptor() const noexcept override { return wire_->descriptor(); }
    bool may_sleep() override;
    /// Messages that were started and not asked about successfully since.
    [[nodiscard]] int under_way() const noexcept {
        return under_way_.load(std::memory_order_relaxed);
    }
    /// Called, by whoever makes progress, for each peer that is lost.
    std::function<void(FabricCard const&)> when_lost = {};

    /// From the wire in its progress(): a message; what came with a write; a write's context; a
    /// peer that cannot be reached. What does not come from this job is thrown away.
    void take(std::span<std::byte const> message);
    void take_write(std::uint64_t data);
    void end_write(void* context);
    void end(FabricIndex peer);

private:
    template <class Act> auto locked(Act const& act);
    void note_state();
    FabricIndex index_of(std::uint64_t name);
    void note_busy(FabricIndex peer);
    bool move_peers();

    std::mutex mutex_;
    std::unique_ptr<FabricWire> wire_;
    Clock& clock_;
    FabricShared shared_{*wire_};
    std::deque<FabricPeer> peers_;
    std::unordered_map<std::uint64_t, FabricIndex> by_name_;
    std::set<FabricIndex> busy_;  ///< Peers for which something waits for room.
    double looked_at_ = 0;
    Linger linger_;
    std::atomic<int> under_way_{0};
    std::atomic<bool> has_unsent_{false}, waits_for_room_{false}, is_busy_{false};
    std::atomic<std::uint64_t> ends_{0};
};

class FabricNetwork final : public Network {
public:
    /// `context`: of this communicator alone, on all processes of the job. `peers`: by rank.
    /// `fabric` outlives this.
    FabricNetwork(Fabric& fabric, std::uint64_t context, std::vector<FabricIndex> peers) noexcept
        : fabric_(fabric),
          context_(context),
          peers_(std::move(peers)) {}
    /// No message is under way.
    ~FabricNetwork() override { fabric_.forget(context_); }

    Message start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                       bool synchronous) override {
        return fabric_.start_send(index_of(peer), context_, tag, bytes, synchronous);
    }
    Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) override {
        return fabric_.start_recv(index_of(peer), context_, tag, bytes);
    }
    [[nodiscard]] bool places() const noexcept override { return true; }
    Message start_placing_send(Rank peer, int tag, std::span<std::byte const> bytes,
                               std::span<PlacedPart const> parts) override {
        return fabric_.start_send(index_of(peer), context_, tag, bytes, false, parts);
    }
    Message start_placing_recv(Rank peer, int tag, std::span<std::byte> bytes,
                               std::span<std::byte> target) override {
        return fabric_.start_recv(index_of(peer), context_, tag, bytes, target);
    }
    void hold(std::span<std::byte> memory) override { fabric_.hold(context_, memory); }
    bool finished(Message& message) override { return fabric_.finished(message); }
    void give_up() override { fabric_.end(context_, peers_, true); }
    [[nodiscard]] bool has_lost_peer() override;
    bool progress() override { return fabric_.progress(); }
    /// A descriptor tells of them, where there is one.
    [[nodiscard]] int due() const noexcept override {
        return fabric_.descriptor() >= 0 ? 0 : fabric_.under_way();
    }

private:
    [[nodiscard]] FabricIndex index_of(Rank peer) const noexcept {
        return peers_[static_cast<std::size_t>(peer)];
    }

    Fabric& fabric_;
    std::uint64_t context_;
    std::vector<FabricIndex> peers_;
    /// Twice Fabric::ends() when lost peers were last looked for, and 1 more where there was one.
    std::atomic<std::uint64_t> looked_{0};
};

}  // namespace sluice
