// A fabric between ranks of one test, in one thread: it brings messages and writes late, in any
// order, and refuses some of them for a while.
#pragma once
#include "node_ranks.hpp"
#include "transport/fabric.hpp"

#include <memory>
#include <random>
#include <set>

namespace sluice {

class FakeFabric {
public:
    struct Options {
        std::size_t message_most = 4096 + sizeof(FabricHeader);
        std::size_t write_most = std::size_t{1} << 20;
        unsigned data_bits = 64;
        std::uint32_t slots = 4;
        int refused_percent = 30;
        bool registers = true;
        bool tells_of_death = true;
    };

    FakeFabric(Rank ranks, std::uint64_t seed, Options const& options)
        : options_(options),
          random_(seed) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            ranks_.push_back(
                std::make_unique<Fabric>(std::make_unique<Place>(*this, rank), clock_));
        }
        for (Rank rank = 0; rank < ranks; ++rank) {
            for (Rank peer = 0; peer < ranks; ++peer) (void)at(rank).meet(card(peer));
        }
    }

    [[nodiscard]] Fabric& at(Rank rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
    /// Peers are met in the order of their ranks.
    [[nodiscard]] static FabricIndex index(Rank rank) noexcept {
        return static_cast<FabricIndex>(rank);
    }

    /// Brings some of what is under way, and lets the ranks send.
    void step() {
        for (int left = 4; left > 0 && !under_way_.empty(); --left) bring_one();
        clock_.seconds += 0.005;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            if (!dead_.contains(static_cast<Rank>(rank))) ranks_[rank]->progress();
        }
    }
    /// From now on nothing reaches it or comes from it.
    void kill(Rank rank) {
        dead_.insert(rank);
        for (std::size_t other = 0; other < ranks_.size(); ++other) {
            if (index(rank) != other && options_.tells_of_death) ranks_[other]->end(index(rank));
        }
    }
    [[nodiscard]] std::string const& faults() const noexcept { return faults_; }
    [[nodiscard]] std::size_t memory_shown() const noexcept { return shown_.size(); }

private:
    struct Item {
        Rank from = 0, to = 0;
        Content bytes;
        bool is_write = false;
        std::uint64_t address = 0, key = 0, data = 0;
        void* context = nullptr;  ///< Of a write; null: its end was told.
    };

    struct Place final : FabricWire {
        Place(FakeFabric& all, Rank rank) : fabric(all), self(rank), own(all.card(rank)) {}
        bool meet(FabricIndex, std::span<std::byte const>) override { return true; }
        [[nodiscard]] std::size_t message_most() const noexcept override {
            return fabric.options_.message_most;
        }
        [[nodiscard]] std::size_t write_most() const noexcept override {
            return fabric.options_.write_most;
        }
        [[nodiscard]] unsigned data_bits() const noexcept override {
            return fabric.options_.data_bits;
        }
        WireResult send(FabricIndex peer, std::span<std::byte const> head,
                        std::span<std::byte const> body) override {
            return fabric.send(self, static_cast<Rank>(peer), head, body);
        }
        WireResult write(FabricIndex peer, std::span<std::byte const> bytes, std::uint64_t address,
                         std::uint64_t key, std::uint64_t data, void* context) override {
            auto const to = static_cast<Rank>(peer);
            if (fabric.dead_.contains(to)) return WireResult::lost;
            if (fabric.refuses()) return WireResult::full;
            fabric.under_way_.push_back(
                {self, to, Content(bytes.begin(), bytes.end()), true, address, key, data, context});
            return WireResult::taken;
        }
        std::optional<ShownMemory> show(std::span<std::byte> memory) override {
            if (!fabric.options_.registers) return std::nullopt;
            std::uint64_t const key = ++fabric.keys_;
            auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
            fabric.shown_[key] = memory;
            return ShownMemory{address, key, reinterpret_cast<void*>(key)};  // NOLINT: a number.
        }
        void hold(std::uint64_t, std::span<std::byte>) override {}
        void release(std::uint64_t) override {}
        PeerLife life_of(FabricIndex peer, double) override {
            return fabric.dead_.contains(static_cast<Rank>(peer)) ? PeerLife::ended
                                                                  : PeerLife::alive;
        }
        void hide(void* registration) override {
            fabric.shown_.erase(reinterpret_cast<std::uintptr_t>(registration));
        }

        [[nodiscard]] FabricCard const& card() const noexcept override { return own; }
        bool progress(Fabric&) override { return false; }  // The steps of all bring what comes.

        FakeFabric& fabric;
        Rank self;
        FabricCard own;
    };

    struct StepClock final : Clock {
        double now() override { return seconds; }
        double seconds = 1;
    };

    [[nodiscard]] FabricCard card(Rank rank) const {
        FabricCard card;
        card.name = 100 + static_cast<std::uint64_t>(rank);
        card.key = 900 + static_cast<std::uint64_t>(rank);
        card.slots = options_.slots;
        return card;
    }
    bool refuses() { return static_cast<int>(random_() % 100) < options_.refused_percent; }

    WireResult send(Rank from, Rank to, std::span<std::byte const> head,
                    std::span<std::byte const> body) {
        if (dead_.contains(to)) return WireResult::lost;
        if (refuses()) return WireResult::full;
        Content bytes(head.begin(), head.end());
        bytes.insert(bytes.end(), body.begin(), body.end());
        FabricHeader header;
        std::memcpy(&header, head.data(), sizeof header);
        if (bytes.size() > options_.message_most) faults_ += "a message is too long\n";
        if (header.kind != FabricKind::credits && ++in_slots_[{from, to}] > options_.slots)
            faults_ += "more messages than slots\n";
        under_way_.push_back({from, to, std::move(bytes), false, 0, 0, 0, nullptr});
        return WireResult::taken;
    }

    void bring_one() {
        std::size_t const which = random_() % under_way_.size();
        // What it brings about may start others, so it is no longer in the list then.
        Item item = std::move(under_way_[which]);
        under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(which));
        if (!dead_.contains(item.to) && !dead_.contains(item.from)) {
            if (item.is_write)
                bring_write(item);
            else
                bring_message(item);
        }
        if (item.context && !dead_.contains(item.from)) at(item.from).end_write(item.context);
    }
    void bring_message(Item& item) {
        FabricHeader header;
        std::memcpy(&header, item.bytes.data(), sizeof header);
        if (header.kind != FabricKind::credits) --in_slots_[{item.from, item.to}];
        at(item.to).take(item.bytes);
    }
    void bring_write(Item& item) {
        auto const memory = shown_.find(item.key);
        auto* const to = reinterpret_cast<std::byte*>(item.address);  // NOLINT: it was one.
        bool const fits = memory != shown_.end() && to >= memory->second.data() &&
                          to + item.bytes.size() <= memory->second.data() + memory->second.size();
        if (!fits) {
            faults_ += "a write leads outside of shown memory\n";
            return;
        }
        std::memcpy(to, item.bytes.data(), item.bytes.size());
        at(item.to).take_write(item.data);
    }

    Options options_;
    std::mt19937_64 random_;
    StepClock clock_;
    std::vector<std::unique_ptr<Fabric>> ranks_;
    std::vector<Item> under_way_;
    std::map<std::uint64_t, std::span<std::byte>> shown_;
    std::map<std::pair<Rank, Rank>, std::uint32_t> in_slots_;
    std::set<Rank> dead_;
    std::uint64_t keys_ = 0;
    std::string faults_;
};

}  // namespace sluice
