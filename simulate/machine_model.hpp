// The timing of a described machine: a message holds a port of its sender, one of its receiver and
// one of each network card. A message that finds a port taken waits for it, first come, first
// served.
#pragma once
#include "simulate/model.hpp"
#include "simulate/simulated_machine.hpp"

namespace sluice::simulated {

class MachineModel final : public Model, private Handler {
public:
    explicit MachineModel(Machine const& machine);

    void attach(Time& time, Mail& mail) override { time_ = &time, mail_ = &mail; }
    void posted(LetterId id) override;
    [[nodiscard]] bool leaves_at_once(Bytes bytes, bool synchronous) const override {
        return !synchronous && bytes <= machine_.eager_bytes;
    }
    double wake_seconds() override { return machine_.wake_seconds; }
    double transfer_begin() override { return time_->now(); }
    double transfer_end(std::span<DeviceAccess const> calls) override;
    [[nodiscard]] bool serves_calls_apart() const override { return device_.has_value(); }
    [[nodiscard]] double processor_seconds(Bytes copied, std::int64_t pieces) const override {
        return static_cast<double>(copied) * machine_.copy_byte_seconds +
               static_cast<double>(pieces) * machine_.piece_seconds;
    }

private:
    struct Waiting {  ///< A message that found a port taken.
        std::uint64_t order;
        LetterId id;
        bool operator>(Waiting const& o) const noexcept { return order > o.order; }
    };
    struct Port {
        std::int32_t capacity = 0, taken = 0;
        std::vector<Waiting> queue;  ///< A heap: the earliest first.
    };
    struct Flight {
        bool ready = false;
        std::uint64_t order = 0;
    };
    enum class Event : std::uint32_t { arrived, card_free };

    /// The ports that a message needs: of sender and receiver, and of the cards.
    struct Path {
        Port* ranks[2];
        Port* cards[2];
    };

    [[nodiscard]] Path path(LetterId id);
    void happened(std::uint32_t kind, std::uint64_t subject) override;
    void try_start(LetterId id);
    void start(LetterId id, Path const& path);
    void release(Port& port);

    Machine machine_;
    Time* time_ = nullptr;
    Mail* mail_ = nullptr;
    std::vector<Port> out_, in_, card_out_, card_in_;
    std::vector<Flight> flights_;
    std::uint64_t next_order_ = 0;
    std::vector<double> servers_;        ///< When each is free: a heap, the earliest first.
    std::optional<DeviceClock> device_;  ///< Takes the place of the servers.
};

}  // namespace sluice::simulated
