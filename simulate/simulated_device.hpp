// A SimulatedDevice has memory that no processor reaches: its addresses are those of memory of this
// process, shifted to where nothing is. Its copies end in virtual time, after drawn delays.
#pragma once
#include "schedule/port.hpp"
#include "simulate/mail.hpp"
#include "simulate/time.hpp"

namespace sluice::simulated {

class SimulatedDevice final : public Device, private Handler {
public:
    /// The end of a copy wakes `rank`.
    SimulatedDevice(Time& time, Waker& waker, Rank rank, double delay_seconds) noexcept
        : time_(time),
          waker_(waker),
          rank_(rank),
          delay_seconds_(delay_seconds) {}

    /// This memory, as if it were the device's. It must outlive all copies.
    [[nodiscard]] UserMemory memory(std::byte* data) noexcept {
        return {reinterpret_cast<std::byte*>(UserMemory(data).address() + far), this};
    }
    /// After so many more copies one fails.
    void fail_after(std::int64_t copies) noexcept { fails_at_ = std::ssize(copies_) + copies; }

    std::unique_ptr<DeviceWork> start(Direction way, std::vector<Rows> rows) override;
    std::shared_ptr<std::byte> take_window() override;
    [[nodiscard]] Bytes window_bytes() const noexcept override { return window_bytes_; }
    void use_windows_of(Bytes bytes) noexcept { window_bytes_ = bytes; }

private:
    struct State {
        Direction way;
        std::vector<Rows> rows;
        Error error;
        bool is_finished = false;
        void finish() noexcept;
    };
    class Copy;
    static constexpr Offset far = Offset{1} << 62;

    void happened(std::uint32_t kind, std::uint64_t subject) override;

    Time& time_;
    Waker& waker_;
    Rank rank_;
    double delay_seconds_;
    std::int64_t fails_at_ = -1;
    Bytes window_bytes_ = Bytes{1} << 16;
    std::vector<std::shared_ptr<State>> copies_;  ///< By number.
};

}  // namespace sluice::simulated
