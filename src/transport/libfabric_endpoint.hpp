// A LibfabricEndpoint is the FabricWire by libfabric: one endpoint of the process, with slots for
// the messages that come and go, which the provider knows from the beginning.
#pragma once
#include "system/port_probe.hpp"
#include "system/random.hpp"
#include "transport/fabric.hpp"
#include "transport/fabric_library.hpp"

#include <map>
#include <rdma/fi_cm.h>

namespace sluice {

/// Closed with its owner.
template <class Fid> struct Close {
    void operator()(Fid* fid) const noexcept { fi_close(&fid->fid); }
};
template <class Fid> using Owned = std::unique_ptr<Fid, Close<Fid>>;

/// What is under way at the provider.
struct FabricSlot {
    enum class Use : std::uint8_t { receive, send, write };
    fi_context2 context;  ///< The provider's while the message is under way; must be the first.
    Use use = Use::send;
    FabricIndex peer = 0;
    std::span<std::byte> memory;   ///< Of messages.
    void* write = nullptr;         ///< Of writes: the context that is given back.
    void* registration = nullptr;  ///< Of writes: of their bytes, or null.
};

/// So many of equal size, in one piece of memory; or, without memory, as many as are taken.
class FabricSlots {
public:
    explicit FabricSlots(FabricSlot::Use use) noexcept : use_(use) {}
    FabricSlots(FabricSlot::Use use, std::size_t count, std::size_t bytes)
        : use_(use),
          memory_(new std::byte[count * bytes]),
          bytes_(count * bytes) {
        for (std::size_t i = 0; i < count; ++i) add({memory_.get() + i * bytes, bytes});
    }
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return {memory_.get(), bytes_}; }
    /// Null: all are under way.
    [[nodiscard]] FabricSlot* take() {
        if (free_.empty() && bytes_ == 0) add({});
        if (free_.empty()) return nullptr;
        FabricSlot* const slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give_back(FabricSlot& slot) { free_.push_back(&slot); }
    [[nodiscard]] bool all_are_free() const noexcept { return free_.size() == all_.size(); }

private:
    void add(std::span<std::byte> memory) {
        FabricSlot& slot = all_.emplace_back();
        slot.use = use_;
        slot.memory = memory;
        free_.push_back(&slot);
    }

    FabricSlot::Use use_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t bytes_ = 0;
    std::deque<FabricSlot> all_;  ///< Addresses stay.
    std::vector<FabricSlot*> free_;
};

/// A peer that is looked for while it is silent.
struct ProbedPeer {
    PortProbe probe;
    double unanswered_since = 0;  ///< 0: it was not asked, or it answered.
};

/// Memory that is registered when it is first used, and stays so.
struct HeldMemory {
    std::span<std::byte> memory;
    std::uint64_t owner = 0;
    Owned<fid_mr> registered;
};

class LibfabricEndpoint final : public FabricWire {
public:
    static constexpr std::size_t slot_bytes = 8192 + sizeof(FabricHeader);

    LibfabricEndpoint(FabricLibrary const& library, double patience_seconds)
        : library_(library),
          patience_seconds_(patience_seconds) {}
    ~LibfabricEndpoint() override {
        endpoint_.reset();  // Before what is bound to it, and what it may write to.
    }
    bool set_up(std::string const& provider, std::size_t peers, std::string& why);
    /// What the provider said when the endpoint was to be enabled; 0: it is, or was not to be.
    [[nodiscard]] int enabled() const noexcept { return enabled_; }

    bool meet(FabricIndex peer, std::span<std::byte const> address) override;
    [[nodiscard]] std::size_t message_most() const noexcept override { return slot_bytes; }
    [[nodiscard]] std::size_t write_most() const noexcept override { return write_most_; }
    [[nodiscard]] unsigned data_bits() const noexcept override { return data_bits_; }
    WireResult send(FabricIndex peer, std::span<std::byte const> head,
                    std::span<std::byte const> body) override;
    WireResult write(FabricIndex peer, std::span<std::byte const> bytes, std::uint64_t address,
                     std::uint64_t key, std::uint64_t data, void* context) override;
    std::optional<ShownMemory> show(std::span<std::byte> memory) override;
    void hold(std::uint64_t owner, std::span<std::byte> memory) override;
    void release(std::uint64_t owner) override;
    void hide(void* registration) override;
    PeerLife life_of(FabricIndex peer, double now) override;

    [[nodiscard]] FabricCard const& card() const noexcept override { return card_; }
    bool progress(Fabric& fabric) override;
    [[nodiscard]] bool has_unposted() const noexcept override { return no_room_to_post_; }
    [[nodiscard]] bool has_sends() const noexcept override { return !sends_.all_are_free(); }
    [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
    bool may_sleep() override;
    [[nodiscard]] std::string address_text() const override;

private:
    bool open_domain(std::string& why);
    bool open_queue(std::string& why);
    bool open_endpoint(std::string& why);
    bool make_slots(std::size_t peers, std::string& why);
    bool make_card(std::string const& provider, std::string& why);
    bool succeeded(int code, char const* call, std::string& why) const;
    HeldMemory* held(std::span<std::byte const> memory);
    fid_mr* register_memory(std::span<std::byte> memory, std::uint64_t access);
    ssize_t post(FabricSlot& slot);
    bool post_unposted();
    [[nodiscard]] static WireResult result_of(ssize_t code) noexcept;
    void take(fi_cq_data_entry const& done, Fabric& fabric);
    void take_error(Fabric& fabric);
    void free(FabricSlot& slot, Fabric& fabric);
    void end(FabricSlot& slot);

    FabricLibrary const& library_;
    double patience_seconds_;  ///< With peers that do not answer.
    FabricLibrary::Info found_{nullptr, {}};
    fi_info* info_ = nullptr;
    SystemRandom random_;
    FabricCard card_;
    std::size_t write_most_ = 0;
    unsigned data_bits_ = 32;
    int descriptor_ = -1, enabled_ = 0;
    std::uint64_t next_key_ = 0;
    // What is opened later is closed earlier.
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> queue_;
    FabricSlots sends_{FabricSlot::Use::send}, receives_{FabricSlot::Use::receive};
    FabricSlots writes_{FabricSlot::Use::write};
    Owned<fid_mr> send_memory_, receive_memory_;
    /// By their begin. What grows has several: messages under way use the shorter ones.
    std::multimap<std::byte const*, HeldMemory> held_;
    std::vector<FabricSlot*> unposted_;
    bool no_room_to_post_ = false;
    std::vector<fi_addr_t> peers_;
    std::vector<ProbedPeer> probed_;
    Owned<fid_ep> endpoint_;
};

}  // namespace sluice
