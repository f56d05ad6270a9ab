// A model says when things happen in a simulated machine; the simulated ports (simulate/world.hpp)
// move the bytes.
#pragma once
#include "device/model/device.hpp"
#include "simulate/mail.hpp"
#include "simulate/time.hpp"

namespace sluice::simulated {

class Model {
public:
    virtual ~Model() = default;

    /// Called once, before all others.
    virtual void attach(Time& time, Mail& mail) = 0;

    /// The send, or the receive, of a message was posted. The model calls Mail::arrive() in time.
    virtual void posted(LetterId id) = 0;
    /// A send that is finished as soon as it is started: its bytes are kept for the receiver.
    [[nodiscard]] virtual bool leaves_at_once(Bytes bytes, bool synchronous) const = 0;

    /// From the moment that something happens to that in which a waiting rank goes on.
    virtual double wake_seconds() = 0;
    /// When a transfer between memory and the file that is asked for now moves its bytes, and when
    /// one that moves them now ends.
    virtual double transfer_begin() = 0;
    virtual double transfer_end(std::span<DeviceAccess const> calls) = 0;
    /// Whether transfer_end() is to be asked of each call when the one before it has ended.
    [[nodiscard]] virtual bool serves_calls_apart() const { return false; }
    /// How long a rank's processor needs for copies, and for looking at pieces of a layout.
    [[nodiscard]] virtual double processor_seconds(Bytes copied, std::int64_t pieces) const = 0;
};

/// Every delay is drawn, up to a bound: shakes the order of everything. Computation is free.
class RandomModel final : public Model, private Handler {
public:
    explicit RandomModel(double delay_seconds) : delay_seconds_(delay_seconds) {}
    void attach(Time& time, Mail& mail) override { time_ = &time, mail_ = &mail; }
    void posted(LetterId id) override {
        Letter const& l = mail_->letter(id);
        if (l.send_posted && l.recv_posted) time_->at(time_->now() + wake_seconds(), *this, 0, id);
    }
    [[nodiscard]] bool leaves_at_once(Bytes, bool) const override { return false; }
    double wake_seconds() override { return time_->draw_seconds(delay_seconds_); }
    double transfer_begin() override { return time_->now() + wake_seconds(); }
    double transfer_end(std::span<DeviceAccess const>) override { return time_->now(); }
    [[nodiscard]] double processor_seconds(Bytes, std::int64_t) const override { return 0; }

private:
    void happened(std::uint32_t, std::uint64_t id) override {
        mail_->arrive(static_cast<LetterId>(id));
    }

    double delay_seconds_;
    Time* time_ = nullptr;
    Mail* mail_ = nullptr;
};

}  // namespace sluice::simulated
