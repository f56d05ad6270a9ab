// When copies end, and what they do then. See simulated_device.hpp.
#include "simulate/simulated_device.hpp"

#include "simulate/index.hpp"

#include <cstring>

namespace sluice::simulated {

class SimulatedDevice::Copy final : public DeviceWork {
public:
    explicit Copy(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
    ~Copy() override { Copy::wait(); }
    bool finished() override { return state_->is_finished; }
    void wait() override { state_->finish(); }
    Error error() const override { return state_->error; }

private:
    std::shared_ptr<State> state_;
};

/// Nothing of a copy that fails arrives.
void SimulatedDevice::State::finish() noexcept {
    if (is_finished) return;
    is_finished = true;
    if (error) return;
    Offset const to_shift = way == Direction::read ? far : 0;
    Offset const from_shift = way == Direction::write ? far : 0;
    for (Rows const& r : rows) {
        for (std::int64_t i = 0; i < r.count; ++i) {
            Rows const piece = r.piece(i);
            std::memcpy(reinterpret_cast<std::byte*>(piece.target - to_shift),
                        reinterpret_cast<std::byte const*>(piece.source - from_shift),
                        static_cast<std::size_t>(piece.length));
        }
    }
    rows.clear();
}

std::unique_ptr<DeviceWork> SimulatedDevice::start(Direction way, std::vector<Rows> rows) {
    auto const state = std::make_shared<State>();
    state->way = way;
    state->rows = std::move(rows);
    if (std::ssize(copies_) == fails_at_)
        state->error = {.status = Status::buffer, .what = "the device fails by order"};
    time_.at(time_.now() + time_.draw_seconds(delay_seconds_), *this, 0, copies_.size());
    copies_.push_back(state);
    return std::make_unique<Copy>(state);
}

std::shared_ptr<std::byte> SimulatedDevice::take_window() {
    auto const all = std::make_shared<std::vector<std::byte>>(index(window_bytes_));
    return {all, all->data()};
}

void SimulatedDevice::happened(std::uint32_t, std::uint64_t number) {
    copies_[number]->finish();
    copies_[number].reset();
    waker_.wake(rank_);
}

}  // namespace sluice::simulated
